// Writes fibre files from given fibres, for comparison with independent readers:
//   fibre_files FIBRES.json FORMAT OUT [ZIP64_FROM]
//   FORMAT: tck, trk, trx. JSON: size, voxel_to_world, fibres (lists of points), and fibre_arrays and point_arrays
//   (name, type, width, values) fibre_files COUNT,POINTS FORMAT OUT COUNT equal fibres of POINTS points each; prints
//   the peak memory
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "src/io/tracts/tracts.hpp"

namespace {

using namespace voxherd;

template <class T>
std::vector<std::byte> bytes_of(const nlohmann::json& numbers) {
  const auto values = numbers.get<std::vector<T>>();
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class json_fibres : public fibre_source {
 public:
  explicit json_fibres(const nlohmann::json& told) {
    grid_.size = told.at("size");
    grid_.voxel_to_world = told.at("voxel_to_world");
    for (const auto& fibre : told.at("fibres")) {
      for (const auto& point : fibre)
        for (const auto& mm : point) mm_.push_back(mm.is_null() ? NAN : mm.get<float>());
      offsets_.push_back(mm_.size() / 3);
    }
    read_arrays(told.at("fibre_arrays"), fibre_arrays_);
    read_arrays(told.at("point_arrays"), point_arrays_);
  }

  const image_grid& grid() const override { return grid_; }
  std::span<const std::uint64_t> offsets() const override { return offsets_; }
  const std::vector<fibre_array>& fibre_arrays() const override { return fibre_arrays_; }
  const std::vector<fibre_array>& point_arrays() const override { return point_arrays_; }
  void read_positions(std::uint64_t first, std::span<float> mm) const override {
    std::copy_n(mm_.begin() + static_cast<std::ptrdiff_t>(3 * first), mm.size(), mm.begin());
  }
  void read_fibre_rows(const fibre_array& a, std::uint64_t first, std::span<std::byte> rows) const override {
    const auto& values = values_.at(a.name);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first * a.row_bytes()), rows.size(), rows.begin());
  }
  void read_point_rows(const fibre_array& a, std::uint64_t first, std::span<std::byte> rows) const override {
    read_fibre_rows(a, first, rows);
  }

 private:
  void read_arrays(const nlohmann::json& told, std::vector<fibre_array>& arrays) {
    for (const auto& array : told) {
      const std::string name = array.at("name"), type = array.at("type");
      const auto known = {element_type::uint8,  element_type::int32,   element_type::uint32,
                          element_type::uint64, element_type::float32, element_type::float64};
      for (const element_type t : known)
        if (type == type_name(t)) arrays.push_back({name, t, array.at("width")});
      values_[name] = bytes_in(arrays.back().type, array.at("values"));
    }
  }

  static std::vector<std::byte> bytes_in(element_type type, const nlohmann::json& numbers) {
    switch (type) {
      case element_type::uint8:
        return bytes_of<std::uint8_t>(numbers);
      case element_type::int32:
        return bytes_of<std::int32_t>(numbers);
      case element_type::uint32:
        return bytes_of<std::uint32_t>(numbers);
      case element_type::uint64:
        return bytes_of<std::uint64_t>(numbers);
      case element_type::float32:
        return bytes_of<float>(numbers);
      case element_type::float64:
        return bytes_of<double>(numbers);
    }
    return {};
  }

  image_grid grid_;
  std::vector<float> mm_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<fibre_array> fibre_arrays_, point_arrays_;
  std::map<std::string, std::vector<std::byte>> values_;
};

/// Created while they are read, so that only the writer's memory is measured.
class many_fibres : public fibre_source {
 public:
  many_fibres(std::uint64_t fibres, std::uint64_t points_each) {
    grid_.size = {100, 100, 60};
    grid_.voxel_to_world = {-2, 0, 0, 90, 0, 2, 0, -126, 0, 0, 2.5, -72, 0, 0, 0, 1};
    for (std::uint64_t f = 0; f <= fibres; ++f) offsets_.push_back(f * points_each);
  }

  const image_grid& grid() const override { return grid_; }
  std::span<const std::uint64_t> offsets() const override { return offsets_; }
  const std::vector<fibre_array>& fibre_arrays() const override { return fibre_arrays_; }
  const std::vector<fibre_array>& point_arrays() const override { return point_arrays_; }
  void read_positions(std::uint64_t first, std::span<float> mm) const override {
    for (std::size_t i = 0; i < mm.size(); ++i) mm[i] = static_cast<float>((3 * first + i) % 100003) / 1000.0f;
  }
  void read_fibre_rows(const fibre_array&, std::uint64_t first, std::span<std::byte> rows) const override {
    std::fill(rows.begin(), rows.end(), static_cast<std::byte>(first));
  }
  void read_point_rows(const fibre_array&, std::uint64_t, std::span<std::byte> rows) const override {
    std::fill(rows.begin(), rows.end(), std::byte{0});
  }

 private:
  image_grid grid_;
  std::vector<std::uint64_t> offsets_;
  std::vector<fibre_array> fibre_arrays_{{"measure", element_type::float32, 1}, {"regions", element_type::int32, 2}};
  std::vector<fibre_array> point_arrays_{{"FA", element_type::float32, 1}};
};

void write(const fibre_source& source, const std::vector<std::string>& words) {
  const std::string &format = words.at(1), &out = words.at(2);
  if (format == "tck") {
    write_tck(source, out);
  } else if (format == "trk") {
    write_trk(source, out);
  } else if (words.size() > 3) {
    write_trx(source, out, {}, std::stoull(words[3]));
  } else {
    write_trx(source, out);
  }
}

void run(const std::vector<std::string>& words) {
  const std::string& what = words.at(0);
  const auto comma = what.find(',');
  if (comma == std::string::npos) {
    std::ifstream file(what);
    write(json_fibres(nlohmann::json::parse(file)), words);
    return;
  }
  write(many_fibres(std::stoull(what.substr(0, comma)), std::stoull(what.substr(comma + 1))), words);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%ld KiB at most\n", used.ru_maxrss);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const voxherd::failure& f) {
    std::fprintf(stderr, "error: %s\n", f.what());
    return static_cast<int>(f.status);
  }
}
