#include <fmt/core.h>

#include <algorithm>
#include <bit>
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

}  // namespace

void write_trx(const fibre_source& source, const std::string& path, std::uint64_t zip64_from) {
  zip_writer zip(path, zip64_from);
  const std::string header = make_header(source);
  zip.begin("header.json", header.size());
  zip.write(header.data(), header.size());
  write_member(zip, "positions.3.float32", source.points(), 3 * sizeof(float),
               [&](std::uint64_t first, std::span<std::byte> bytes) {
                 source.read_positions(first, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
               });
  // One more offset than fibres, as in the reference implementations of the format.
  const auto offsets = source.offsets();
  zip.begin("offsets.uint64", offsets.size_bytes());
  zip.write(offsets.data(), offsets.size_bytes());
  for (const fibre_array& a : source.fibre_arrays())
    write_member(zip, member_name("dps", a), source.fibres(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_fibre_rows(a, first, rows); });
  for (const fibre_array& a : source.point_arrays())
    write_member(zip, member_name("dpv", a), source.points(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_point_rows(a, first, rows); });
  zip.finish();
}

}  // namespace voxherd
