#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/io/tracts/tracts.hpp"
#include "src/io/tracts/zip_writer.hpp"

namespace voxherd {

namespace {

static_assert(std::endian::native == std::endian::little, "fibre files are written in native byte order");

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;

std::string make_header(const fibre_source& source) {
  const image_grid& grid = source.grid();
  nlohmann::ordered_json affine = nlohmann::ordered_json::array();
  for (auto row = grid.voxel_to_world.begin(); row != grid.voxel_to_world.end(); row += 4)
    affine.push_back(std::vector<double>(row, row + 4));
  const nlohmann::ordered_json header{{"VOXEL_TO_RASMM", affine},
                                      {"DIMENSIONS", grid.size},
                                      {"NB_STREAMLINES", source.fibres()},
                                      {"NB_VERTICES", source.points()}};
  return header.dump();
}

/// FOLDER/NAME.TYPE, or FOLDER/NAME.WIDTH.TYPE if a row has several numbers.
std::string member_name(const char* folder, const fibre_array& a) {
  return fmt::format("{}/{}{}.{}", folder, a.name, a.width == 1 ? "" : fmt::format(".{}", a.width), type_name(a.type));
}

/// IEEE 754 binary16, rounded to the nearest, ties to even. Larger values become infinite.
std::uint16_t half_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff, odd = (magnitude >> 13) & 1;
  std::uint32_t half = (magnitude - 0x38000000 + 0xfff + odd) >> 13;
  if (magnitude > 0x7f800000) {
    half = 0x7e00;  // not a number
  } else if (magnitude >= 0x47800000) {
    half = 0x7c00;  // 65536 and more
  } else if (magnitude < 0x38800000) {
    half = static_cast<std::uint32_t>(std::nearbyint(std::abs(value) * 16777216.0f));  // below 2^-14: steps of 2^-24
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// Writes a member of `rows` rows in parts. `read(first, bytes)` fills `bytes` with rows from `first` on.
template <class Reader>
void write_member(zip_writer& zip, const std::string& name, std::uint64_t rows, std::uint64_t row_bytes,
                  const Reader& read) {
  zip.begin(name, rows * row_bytes);
  const std::uint64_t at_once = std::max(std::uint64_t{1}, piece_bytes / row_bytes);
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < rows; first += at_once) {
    bytes.resize(std::min(at_once, rows - first) * row_bytes);
    read(first, std::span(bytes));
    zip.write(bytes.data(), bytes.size());
  }
}

void write_positions(zip_writer& zip, const fibre_source& source, position_type type) {
  if (type == position_type::float32)
    return write_member(
        zip, "positions.3.float32", source.points(), 3 * sizeof(float),
        [&](std::uint64_t first, std::span<std::byte> bytes) {
          source.read_positions(first, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
        });
  std::vector<float> mm;
  write_member(zip, "positions.3.float16", source.points(), 3 * sizeof(std::uint16_t),
               [&](std::uint64_t first, std::span<std::byte> bytes) {
                 mm.resize(bytes.size() / sizeof(std::uint16_t));
                 source.read_positions(first, mm);
                 std::transform(mm.begin(), mm.end(), reinterpret_cast<std::uint16_t*>(bytes.data()), half_float);
               });
}

template <class T>
void write_array(zip_writer& zip, const std::string& name, std::span<const T> values) {
  zip.begin(name, values.size_bytes());
  zip.write(values.data(), values.size_bytes());
}

void write_groups(zip_writer& zip, const std::vector<fibre_group>& groups) {
  for (const fibre_group& g : groups)
    write_array(zip, fmt::format("groups/{}.uint32", g.name), std::span<const std::uint32_t>(g.fibres));
  for (const fibre_group& g : groups)
    for (const auto& [name, value] : g.values)
      write_array(zip, fmt::format("dpg/{}/{}.float32", g.name, name), std::span<const float>(&value, 1));
}

}  // namespace

void write_trx(const fibre_source& source, const std::string& path, const trx_form& form, std::uint64_t zip64_from) {
  zip_writer zip(path, zip64_from);
  const std::string header = make_header(source);
  zip.begin("header.json", header.size());
  zip.write(header.data(), header.size());
  write_positions(zip, source, form.positions);
  // One more offset than fibres, as in the reference implementations of the format.
  const auto offsets = source.offsets();
  write_array(zip, "offsets.uint64", offsets);
  for (const fibre_array& a : source.fibre_arrays())
    write_member(zip, member_name("dps", a), source.fibres(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_fibre_rows(a, first, rows); });
  for (const fibre_array& a : source.point_arrays())
    write_member(zip, member_name("dpv", a), source.points(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_point_rows(a, first, rows); });
  write_groups(zip, form.groups);
  zip.finish();
}

}  // namespace voxherd
