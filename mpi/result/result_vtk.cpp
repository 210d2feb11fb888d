#include "mpi/result/result_vtk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "mpi/result/dataset_boxes.hpp"

namespace voxherd {

namespace {

constexpr std::array<std::uint64_t, 1> three{3}, six{6}, nine{9}, two{2};
constexpr std::uint64_t values_at_once = 1 << 20;

// VTK's cell types: a fibre of one point is a vertex, one without points an empty cell.
constexpr std::uint8_t vtk_empty_cell = 0, vtk_vertex = 1, vtk_poly_line = 4;

struct vtk_geometry {
  std::array<double, 3> origin{}, spacing{};
  std::array<double, 9> direction{};
};

/// Columns of the affine: their lengths are the spacing, the rest is the direction (a shear is lost; /image keeps it).
vtk_geometry geometry_of(const image_grid& grid) {
  vtk_geometry g;
  for (std::size_t column = 0; column < 3; ++column) {
    double squares = 0;
    for (std::size_t row = 0; row < 3; ++row) squares += std::pow(grid.voxel_to_world[4 * row + column], 2);
    g.spacing[column] = squares > 0 ? std::sqrt(squares) : 1;
    g.origin[column] = grid.voxel_to_world[4 * column + 3];
    for (std::size_t row = 0; row < 3; ++row) {
      const double unit = grid.voxel_to_world[4 * row + column] / g.spacing[column];
      g.direction[3 * row + column] = squares > 0 ? unit : (row == column ? 1 : 0);
    }
  }
  return g;
}

void new_vtk_dataset(hid_t group, const std::string& name, hid_t type, std::uint64_t length,
                     const std::string& meaning) {
  const std::array<std::uint64_t, 1> shape{length};
  const hdf5::handle dataset = hdf5::new_dataset(group, name, type, shape);
  hdf5::write_attribute(dataset, "unit", "1");
  hdf5::write_attribute(dataset, "meaning", meaning);
}

void link_into_vtkhdf(hid_t file, const std::string& from, hid_t group, const std::string& name) {
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

/// Group /VTKHDF of version 1.0 with its `Type`.
hdf5::handle new_vtkhdf(hid_t file, const std::string& data_type) {
  const std::array<std::int64_t, 2> version{1, 0};
  hdf5::handle vtk = hdf5::new_group(file, "VTKHDF");
  hdf5::write_attribute(vtk, "Version", H5T_STD_I64LE, two, version.data());
  // VTK's own files have a fixed, null-padded string here.
  const hdf5::handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
  H5Tset_size(type, data_type.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  hdf5::write_attribute(vtk, "Type", type, {}, data_type.data());
  return vtk;
}

/// Hard links in `group` to the outputs of one layout that VTK can read there, numbers and vectors; not to the points
/// of poly-lines.
void link_outputs(hid_t file, hid_t group, const result_layout& layout, output_layout wanted) {
  for (const output_spec& o : layout.outputs) {
    // One array of more dimensions would make the whole file unreadable for VTK.
    if (o.layout != wanted || o.shape.size() > 1 || &o == polyline_points(layout)) continue;
    link_into_vtkhdf(file, dataset_path(o), group, o.name);
  }
}

}  // namespace

namespace {

/// An UnstructuredGrid with one cell per item, for VTK 9.1 and later; positions, offsets and the outputs of points and
/// items are hard links, nothing is stored twice.
void create_polylines(hid_t file, const result_layout& layout) {
  const hdf5::handle vtk = new_vtkhdf(file, "UnstructuredGrid");
  hdf5::write_attribute(vtk, "coordinates", "world, RAS+, mm");
  for (const char* name : {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"}) {
    new_vtk_dataset(vtk, name, H5T_STD_I64LE, 1, "for VTK");
  }
  new_vtk_dataset(vtk, "Connectivity", H5T_STD_I64LE, point_count(layout), "for VTK: the points in their order");
  new_vtk_dataset(vtk, "Types", H5T_STD_U8LE, layout.item_voxels.size(),
                  "for VTK: 4 poly-line, 1 vertex (an item of one point), 0 empty cell (of none)");
  link_into_vtkhdf(file, dataset_path(*polyline_points(layout)), vtk, "Points");
  link_into_vtkhdf(file, offset_path, vtk, "Offsets");
  link_outputs(file, hdf5::new_group(vtk, "PointData"), layout, output_layout::points);
  link_outputs(file, hdf5::new_group(vtk, "CellData"), layout, output_layout::items);
}

/// Image geometry, and links to the maps. Nothing for an image of fewer than two voxels along an axis: VTK 9.1 aborts
/// on those.
void create_image(hid_t file, const result_layout& layout) {
  const auto& size = layout.grid.size;
  if (std::any_of(size.begin(), size.end(), [](std::uint64_t n) { return n < 2; })) return;
  const vtk_geometry g = geometry_of(layout.grid);
  std::array<std::int64_t, 6> extent{};
  for (std::size_t axis = 0; axis < 3; ++axis) extent[2 * axis + 1] = static_cast<std::int64_t>(size[axis]) - 1;
  const hdf5::handle vtk = new_vtkhdf(file, "ImageData");
  hdf5::write_attribute(vtk, "WholeExtent", H5T_STD_I64LE, six, extent.data());
  hdf5::write_attribute(vtk, "Origin", H5T_IEEE_F64LE, three, g.origin.data());
  hdf5::write_attribute(vtk, "Spacing", H5T_IEEE_F64LE, three, g.spacing.data());
  hdf5::write_attribute(vtk, "Direction", H5T_IEEE_F64LE, nine, g.direction.data());
  link_outputs(file, hdf5::new_group(vtk, "PointData"), layout, output_layout::volume);
}

}  // namespace

void create_vtkhdf(hid_t file, const result_layout& layout) {
  polyline_points(layout) != nullptr ? create_polylines(file, layout) : create_image(file, layout);
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
