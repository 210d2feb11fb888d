// Writes a result like a matrix of track with made-up entries, of any size, for tests of its exports:
//   matrix_result matrix --rows N --entries K --out FILE
// Row r has K entries, at columns (r * 7919 + k * (N / K)) mod N, sorted; the count of (r, c) is 1 + (r + 3 c) mod
// 1000.
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/run/support/toy_analysis.hpp"

namespace voxherd {

namespace {

class made_up_matrix : public analysis {
 public:
  made_up_matrix(std::uint64_t rows, std::uint64_t entries) : rows_(rows), entries_(entries) {
    constexpr std::uint64_t plane = 100;
    grid_.size = {plane, plane, (rows + plane * plane - 1) / (plane * plane)};
    grid_.voxel_to_world = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1};
    for (std::uint64_t r = 0; r < rows; ++r) voxels_.push_back(r);
  }
  std::string name() const override { return "track-matrix"; }
  const image_grid& grid() const override { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<std::uint64_t> point_offsets() const override {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t r = 0; r <= rows_; ++r) offsets.push_back(r * entries_);
    return offsets;
  }
  std::vector<output_spec> outputs() const override {
    return {{"column", element_type::uint32, {}, output_layout::points, "1", "column"},
            {"count", element_type::uint32, {}, output_layout::points, "1", "made-up count"}};
  }
  std::vector<constant> constants() const override {
    const auto& n = grid_.size;
    const auto& m = grid_.voxel_to_world;
    return {{"number", {1}, {1}, "1", "number", "matrix"},
            {"column_voxel", {rows_}, {voxels_.begin(), voxels_.end()}, "1", "voxels", "matrix"},
            {"column_image_size", {3}, {double(n[0]), double(n[1]), double(n[2])}, "1", "size", "matrix"},
            {"column_voxel_to_world", {4, 4}, {m.begin(), m.end()}, "mm", "matrix", "matrix"}};
  }
  std::size_t device_bytes_per_item() const override { return 8 * entries_; }
  std::unique_ptr<batch_runner> make_runner() const override;

  std::uint64_t rows() const { return rows_; }
  std::uint64_t entries() const { return entries_; }

 private:
  std::uint64_t rows_, entries_;
  image_grid grid_;
  std::vector<std::uint64_t> voxels_;
};

class made_up_runner : public batch_runner {
 public:
  explicit made_up_runner(const made_up_matrix& m) : matrix_(m) {}
  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    auto* column = reinterpret_cast<std::uint32_t*>(outputs[0].data());
    auto* count = reinterpret_cast<std::uint32_t*>(outputs[1].data());
    const std::uint64_t n = matrix_.rows(), step = n / matrix_.entries();
    for (std::uint64_t r = items.first_item; r < items.first_item + items.item_count; ++r) {
      std::uint32_t* const first = column;
      for (std::uint64_t k = 0; k < matrix_.entries(); ++k)
        *column++ = static_cast<std::uint32_t>((r * 7919 + k * step) % n);
      std::sort(first, column);
      for (const std::uint32_t* c = first; c < column; ++c)
        *count++ = static_cast<std::uint32_t>(1 + (r + 3 * *c) % 1000);
    }
  }

 private:
  const made_up_matrix& matrix_;
};

std::unique_ptr<batch_runner> made_up_matrix::make_runner() const { return std::make_unique<made_up_runner>(*this); }

struct matrix_request {
  std::uint64_t rows = 1000, entries = 100;
  run_request run;
};

const option_table<matrix_request>& matrix_options() {
  using T = matrix_request;
  static const option_table<T> table = option_table<T>()
                                           .group("Toy", {{"rows", &T::rows, range{1, 1e9}, {"rows"}},
                                                          {"entries", &T::entries, range{1, 1e9}, {"entries per row"}}})
                                           .include(&T::run, run_options());
  return table;
}

exit_status run_matrix(session& s, const matrix_request& request) {
  made_up_matrix m(request.rows, request.entries);
  run_settings settings = make_run_settings(s, request.run);
  settings.provenance["inputs"] = nlohmann::json::object();
  return run(s, m, settings, hooks_for(choose_device(s, request.run)));
}

constexpr command matrix_command = make_command<matrix_options, run_matrix>({"matrix", "made-up matrix"});

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::matrix_command};
  return voxherd::run_program(argc, argv, commands);
}
