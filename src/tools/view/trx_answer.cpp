#include "src/tools/view/trx_answer.hpp"

#include <fmt/core.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/failure.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd::view {

namespace {

namespace fs = std::filesystem;

class solved_fibres final : public fibre_source {
 public:
  solved_fibres(const fibre_set& fibres, const image_grid& grid) : fibres_(fibres), grid_(grid) {}

  const image_grid& grid() const override { return grid_; }
  std::span<const std::uint64_t> offsets() const override { return fibres_.offsets; }
  const std::vector<fibre_array>& fibre_arrays() const override { return costs_; }
  const std::vector<fibre_array>& point_arrays() const override { return none_; }
  void read_positions(std::uint64_t first_point, std::span<float> mm) const override {
    std::copy_n(fibres_.position_mm.data() + 3 * first_point, mm.size(), mm.data());
  }
  void read_fibre_rows(const fibre_array&, std::uint64_t first, std::span<std::byte> rows) const override {
    std::memcpy(rows.data(), fibres_.cost.data() + first, rows.size());
  }
  void read_point_rows(const fibre_array&, std::uint64_t, std::span<std::byte>) const override {}

 private:
  const fibre_set& fibres_;
  const image_grid& grid_;
  std::vector<fibre_array> costs_{{"cost", element_type::float32, 1}}, none_;
};

/// A folder that only this user can read; removed with what is in it.
class temporary_folder {
 public:
  temporary_folder() {
    path_ = (fs::temp_directory_path() / "voxherd-view-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw failure(exit_status::disk, fmt::format("{}: cannot be created", path_));
  }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

std::string make_trx(const fibre_source& fibres) {
  const temporary_folder folder;
  const std::string path = folder.file("fibres.trx");
  write_trx(fibres, path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.size() != fs::file_size(path))
    throw failure(exit_status::disk, fmt::format("{}: cannot be read", path));
  return bytes;
}

std::string make_trx(const fibre_set& fibres, const image_grid& grid) { return make_trx(solved_fibres(fibres, grid)); }

}  // namespace voxherd::view
