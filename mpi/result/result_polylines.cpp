#include "mpi/result/result_polylines.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/result/result_groups.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t values_at_once = 1 << 20;

// VTK's cell types: a fibre of one point is a vertex, one without points an empty cell.
constexpr std::uint8_t vtk_empty_cell = 0, vtk_vertex = 1, vtk_poly_line = 4;

void new_described(hid_t group, const std::string& name, hid_t type, std::uint64_t length, const std::string& meaning) {
  const std::array<std::uint64_t, 1> shape{length};
  const hdf5::handle dataset = hdf5::new_dataset(group, name, type, shape);
  hdf5::write_attribute(dataset, "unit", "1");
  hdf5::write_attribute(dataset, "meaning", meaning);
}

void link(hid_t file, const std::string& from, hid_t group, const std::string& name) {
  hdf5::checked(H5Lcreate_hard(file, from.c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                "linking " + from + " into /VTKHDF");
}

void write_count(hid_t vtk, const std::string& name, std::uint64_t count) {
  const std::array<std::uint64_t, 1> start{0}, one{1};
  hdf5::write_block(hdf5::open_dataset(vtk, name), H5T_STD_U64LE, start, one, &count, "/VTKHDF/" + name);
}

/// Calls fill(first, values) for each of this rank's pieces of a dataset of `length` values, and writes them.
template <class T, class Fill>
void write_share(hid_t dataset, hid_t type, std::uint64_t length, int rank, int ranks, const Fill& fill) {
  std::vector<T> values;
  const std::uint64_t stride = values_at_once * static_cast<std::uint64_t>(ranks);
  for (std::uint64_t at = values_at_once * static_cast<std::uint64_t>(rank); at < length; at += stride) {
    const std::array<std::uint64_t, 1> start{at}, count{std::min(values_at_once, length - at)};
    values.resize(count[0]);
    fill(at, values);
    hdf5::write_block(dataset, type, start, count, values.data(), "/VTKHDF");
  }
}

void fill_connectivity(std::uint64_t first, std::vector<std::int64_t>& values) {
  std::iota(values.begin(), values.end(), static_cast<std::int64_t>(first));
}

void fill_types(const std::vector<std::uint64_t>& offsets, std::uint64_t first, std::vector<std::uint8_t>& values) {
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const auto n = offsets[first + i + 1] - offsets[first + i];
    values[i] = n > 1 ? vtk_poly_line : n == 1 ? vtk_vertex : vtk_empty_cell;
  }
}

/// Whether this rank's pieces of a dataset contain what fill(first, values) says.
template <class T, class Fill>
bool is_share_correct(hid_t dataset, hid_t type, std::uint64_t length, int rank, int ranks, const Fill& fill) {
  if (hdf5::shape_of(dataset) != std::vector<std::uint64_t>{length}) return false;
  std::vector<T> expected, found;
  const std::uint64_t stride = values_at_once * static_cast<std::uint64_t>(ranks);
  for (std::uint64_t at = values_at_once * static_cast<std::uint64_t>(rank); at < length; at += stride) {
    const std::array<std::uint64_t, 1> start{at}, count{std::min(values_at_once, length - at)};
    expected.resize(count[0]);
    found.resize(count[0]);
    fill(at, expected);
    hdf5::read_block(dataset, type, start, count, found.data(), "/VTKHDF");
    if (found != expected) return false;
  }
  return true;
}

}  // namespace

const output_spec* polyline_points(const result_layout& layout) {
  for (const output_spec& o : layout.outputs) {
    if (o.layout == output_layout::points && o.name == "position" && o.type == element_type::float32 &&
        o.shape == std::vector<std::uint64_t>{3}) {
      return &o;
    }
  }
  return nullptr;
}

std::uint64_t polyline_bytes(const result_layout& layout) {
  return polyline_points(layout) == nullptr ? 0 : 8 * point_count(layout) + layout.item_voxels.size() + 3 * 8;
}

void create_polylines(hid_t file, const result_layout& layout) {
  const hdf5::handle vtk = new_vtkhdf(file, "UnstructuredGrid");
  hdf5::write_attribute(vtk, "coordinates", "world, RAS+, mm");
  for (const char* name : {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"}) {
    new_described(vtk, name, H5T_STD_I64LE, 1, "for VTK");
  }
  new_described(vtk, "Connectivity", H5T_STD_I64LE, point_count(layout), "for VTK: the points in their order");
  new_described(vtk, "Types", H5T_STD_U8LE, layout.item_voxels.size(),
                "for VTK: 4 poly-line, 1 vertex (an item of one point), 0 empty cell (of none)");
  link(file, dataset_path(*polyline_points(layout)), vtk, "Points");
  link(file, offset_path, vtk, "Offsets");
  link_outputs(file, hdf5::new_group(vtk, "PointData"), layout, output_layout::points);
  link_outputs(file, hdf5::new_group(vtk, "CellData"), layout, output_layout::items);
}

void write_polylines(hid_t file, const result_layout& layout, int rank, int ranks) {
  if (polyline_points(layout) == nullptr) return;
  const hdf5::handle vtk = hdf5::open_group(file, "VTKHDF");
  const std::uint64_t points = point_count(layout), items = layout.item_voxels.size();
  if (rank == 0) {
    write_count(vtk, "NumberOfPoints", points);
    write_count(vtk, "NumberOfCells", items);
    write_count(vtk, "NumberOfConnectivityIds", points);
  }
  write_share<std::int64_t>(hdf5::open_dataset(vtk, "Connectivity"), H5T_STD_I64LE, points, rank, ranks,
                            fill_connectivity);
  write_share<std::uint8_t>(
      hdf5::open_dataset(vtk, "Types"), H5T_STD_U8LE, items, rank, ranks,
      [&](std::uint64_t first, auto& values) { fill_types(layout.point_offsets, first, values); });
}

std::vector<std::string> wrong_polylines(hid_t file, const result_layout& layout, int rank, int ranks) {
  std::vector<std::string> wrong;
  if (polyline_points(layout) == nullptr) return wrong;
  const std::uint64_t points = point_count(layout), items = layout.item_voxels.size();
  const auto check = [&](const char* name, auto value, hid_t type, std::uint64_t length, const auto& fill) {
    const std::string path = std::string("/VTKHDF/") + name;
    const hdf5::handle dataset = hdf5::open_dataset(file, path);
    if (!is_share_correct<decltype(value)>(dataset, type, length, rank, ranks, fill)) wrong.push_back(path);
  };
  const auto check_count = [&](const char* name, std::uint64_t count) {
    check(name, std::uint64_t{}, H5T_STD_U64LE, 1, [&](std::uint64_t, auto& values) { values[0] = count; });
  };
  check_count("NumberOfPoints", points);
  check_count("NumberOfCells", items);
  check_count("NumberOfConnectivityIds", points);
  check("Connectivity", std::int64_t{}, H5T_STD_I64LE, points, fill_connectivity);
  check("Types", std::uint8_t{}, H5T_STD_U8LE, items,
        [&](std::uint64_t first, auto& values) { fill_types(layout.point_offsets, first, values); });
  return wrong;
}

}  // namespace voxherd
