#include "src/scan/surface_space.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/failure.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/voxel_map.hpp"

namespace voxherd {

namespace {

/// From a surface's coordinates to voxels of FSL's storage. Those of freesurfer are right for cubes, as FSL has them.
voxel_map map_from_mesh(mesh_space meshes, const fsl_grid& grid) {
  voxel_map map;
  const auto& mm = grid.voxel_size_mm;
  const auto half = [&](std::size_t d) { return static_cast<double>(grid.size[d] / 2); };
  switch (meshes) {
    case mesh_space::caret:
      return to_world(grid).inverse();
    case mesh_space::freesurfer:
      map.axes = {-1 / mm[0], 0, 0, 0, 0, -1 / mm[1], 0, 1 / mm[2], 0};
      map.origin = {half(0), half(2), half(1)};
      break;
    case mesh_space::first:
      map.axes = {1 / mm[0], 0, 0, 0, 1 / mm[1], 0, 0, 0, 1 / mm[2]};
      break;
    case mesh_space::vox:
      break;
  }
  return map;
}

}  // namespace

const char* mesh_space_name(mesh_space meshes) {
  for (const auto& [name, space] : mesh_space_words)
    if (space == meshes) return name;
  return "";
}

mesh_space find_mesh_space(const std::string& name) {
  for (const auto& [word, space] : mesh_space_words)
    if (word == name) return space;
  return mesh_space::caret;
}

bool is_surface_mask(const std::string& path) { return !is_nifti_name(path) && is_surface_file(path); }

bool has_surfaces(const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), is_surface_mask);
}

vector3 placed_surface::position(std::size_t vertex) const {
  const float* p = &positions[3 * vertex];
  return {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
}

placed_surface place_surface(const std::string& path, mesh_space meshes, const fsl_grid& grid) {
  surface mesh = read_surface(path);
  placed_surface placed{
      path, std::move(mesh.structure), {}, std::move(mesh.triangles), std::move(mesh.values), mesh.has_rounded_values};
  if (meshes == mesh_space::caret && !mesh.other_origin.empty())
    spdlog::warn(
        "{}: its coordinates are read as mm of the world, but {}; if they are not in the image's space, move the "
        "surface there (wb_command -surface-apply-affine, mris_convert --to-scanner)",
        path, mesh.other_origin);
  const voxel_map to_voxel = map_from_mesh(meshes, grid);
  bool any_in_image = false;
  for (const auto& p : mesh.points_mm) {
    const vector3 voxel = to_voxel({static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])});
    any_in_image = any_in_image || find_voxel(grid, voxel).has_value();
    for (const double v : voxel) placed.positions.push_back(static_cast<float>(v));
  }
  if (!any_in_image)
    refuse_data(
        "{}: none of its {} vertices is in the image; is it of this subject, in the space of this image, and in the "
        "coordinates of --mesh-space {}?",
        path, mesh.points_mm.size(), mesh_space_name(meshes));
  return placed;
}

void move_to_world(surface& mesh, mesh_space meshes, const fsl_grid& grid) {
  if (meshes == mesh_space::caret) return;
  const voxel_map to_voxel = map_from_mesh(meshes, grid);
  const grid_space space(grid);
  for (auto& [x, y, z] : mesh.points_mm) {
    const vector3 voxel = to_voxel({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
    const vector3 mm = space.to_world(voxel);
    x = static_cast<float>(mm[0]), y = static_cast<float>(mm[1]), z = static_cast<float>(mm[2]);
  }
}

std::vector<std::uint8_t> find_active(const placed_surface& s) {
  std::vector<std::uint8_t> active(s.vertices(), 1);
  if (std::all_of(s.values.begin(), s.values.end(), [](double v) { return v == 0; })) return active;
  for (std::size_t i = 0; i < s.values.size(); ++i) active[i] = s.values[i] != 0 ? 1 : 0;
  return active;
}

surface_values read_vertex_values(const std::string& path, const std::string& surface, const std::string& structure,
                                  std::size_t vertices) {
  surface_values read = read_surface_values(path);
  const std::vector<double>& values = read.arrays.front().values;
  if (values.size() != vertices)
    refuse_data("--surface-values {}: has values of {} vertices, expected {} as in {}", path, values.size(), vertices,
                surface);
  if (!read.structure.empty() && !structure.empty() && read.structure != structure)
    refuse_data("--surface-values {}: is of {}, but {} is of {}", path, read.structure, surface, structure);
  return read;
}

surface_values replace_values(const std::string& path, placed_surface& s) {
  surface_values read = read_vertex_values(path, s.path, s.structure, s.vertices());
  s.values = read.arrays.front().values;
  s.has_rounded_values = read.arrays.front().has_rounded_values;
  if (s.structure.empty()) s.structure = read.structure;
  if (std::all_of(s.values.begin(), s.values.end(), [](double v) { return v == 0; }))
    refuse_data("--surface-values {}: all values are 0, expected others at some vertices", path);
  return read;
}

std::vector<std::string> different_surfaces(const std::vector<std::string>& files) {
  std::vector<std::string> surfaces;
  for (const std::string& file : files)
    if (std::find(surfaces.begin(), surfaces.end(), file) == surfaces.end() && is_surface_mask(file))
      surfaces.push_back(file);
  return surfaces;
}

}  // namespace voxherd
