#include "mpi/result/result_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "mpi/result/dataset_checksum.hpp"
#include "mpi/result/result_polylines.hpp"

namespace voxherd {

namespace {

constexpr std::array<std::uint64_t, 1> three{3}, six{6}, nine{9}, two{2};
constexpr std::array<std::uint64_t, 2> four_by_four{4, 4};

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

}  // namespace

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

void link_outputs(hid_t file, hid_t group, const result_layout& layout, output_layout wanted) {
  for (const output_spec& o : layout.outputs) {
    // One array of more dimensions would make the whole file unreadable for VTK.
    if (o.layout != wanted || o.shape.size() > 1 || &o == polyline_points(layout)) continue;
    hdf5::checked(H5Lcreate_hard(file, dataset_path(o).c_str(), group, o.name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                  "linking " + dataset_path(o) + " into /VTKHDF");
  }
}

void write_file_attributes(hid_t file, const result_layout& layout) {
  const std::uint8_t complete = 0;
  hdf5::write_attribute(file, "voxherd_version", layout.version);
  hdf5::write_attribute(file, "analysis", layout.analysis);
  hdf5::write_attribute(file, "complete", H5T_STD_U8LE, {}, &complete);
  hdf5::write_attribute(file, "configuration", layout.configuration.dump());
  hdf5::write_attribute(file, "provenance", layout.provenance.dump());
  hdf5::write_attribute(file, "contents", describe_contents(layout).dump());
  const std::uint64_t texts = text_checksum(file);
  hdf5::write_attribute(file, text_checksum_name, H5T_STD_U64LE, {}, &texts);
  const hdf5::handle image = hdf5::new_group(file, "image");
  hdf5::write_attribute(image, "size", H5T_STD_U64LE, three, layout.grid.size.data());
  hdf5::write_attribute(image, "voxel_to_world", H5T_IEEE_F64LE, four_by_four, layout.grid.voxel_to_world.data());
  hdf5::write_attribute(image, "voxel_size_mm", H5T_IEEE_F64LE, three, layout.grid.voxel_size_mm.data());
}

void write_vtkhdf(hid_t file, const result_layout& layout) {
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

}  // namespace voxherd
