#include "src/analyses/track/surface_reader.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"
#include "core/main_memory.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

std::size_t surface_reader::add(const std::string& path) {
  auto& all = masks_.all_;
  if (const std::size_t known = masks_.find(path); known < all.files.size()) return known;
  placed_surface mesh = place_surface(path, meshes_, grid_);
  const auto values = values_of_.find(path);
  std::string label_file;
  if (values != values_of_.end() && replace_values(values->second, mesh).is_label) label_file = values->second;
  constexpr std::size_t max_vertices = 0x3fffffff;
  if (masks_.vertices() + mesh.vertices() > max_vertices)
    refuse_data("{}: all surfaces have more than {} vertices", path, max_vertices);
  constexpr double vertex_bytes = 64, triangle_bytes = 32;  // here, in seeds, places and lists of triangles
  require_memory(
      vertex_bytes * static_cast<double>(mesh.vertices()) + triangle_bytes * static_cast<double>(mesh.triangles.size()),
      fmt::format("{}: {} vertices and {} triangles", path, mesh.vertices(), mesh.triangles.size()));
  const auto first = static_cast<std::uint32_t>(masks_.vertices());
  all.positions.insert(all.positions.end(), mesh.positions.begin(), mesh.positions.end());
  const std::vector<std::uint8_t> active = find_active(mesh);
  std::vector<std::uint32_t> triangles_of(active.size());
  for (const auto& t : mesh.triangles)
    for (const std::uint32_t corner : t) ++triangles_of[corner];
  all.active.insert(all.active.end(), active.begin(), active.end());
  for (auto corner : mesh.triangles) {
    if (active[corner[0]] + active[corner[1]] + active[corner[2]] == 0) continue;
    std::sort(corner.begin(), corner.end());
    std::uint32_t tips = 0;
    for (std::uint32_t i = 0; i < 3; ++i) tips |= triangles_of[corner[i]] == 1 ? 1u << i : 0;
    all.triangles.push_back({{first + corner[0], first + corner[1], first + corner[2]},
                             static_cast<std::uint32_t>(all.files.size()),
                             tips});
  }
  all.files.push_back({path, mesh.structure, first, static_cast<std::uint32_t>(mesh.vertices()), label_file});
  all.uses.emplace_back();
  targets_of_.emplace_back();
  return all.files.size() - 1;
}

surface_masks surface_reader::finish(bool one_corner) {
  auto& all = masks_.all_;
  all.one_corner = one_corner;
  for (std::size_t i = 0; i < all.files.size(); ++i) {
    all.uses[i].first_target = static_cast<std::uint32_t>(all.targets.size());
    all.targets.insert(all.targets.end(), targets_of_[i].begin(), targets_of_[i].end());
    all.uses[i].end_target = static_cast<std::uint32_t>(all.targets.size());
  }
  const bool is_mask = std::any_of(all.uses.begin(), all.uses.end(), [](const auto& use) { return use.is_mask(); });
  if (!is_mask && !has_columns_) return std::move(masks_);
  std::int32_t size[3];
  double margin = 0.002;  // more than the rounding of a voxel's border
  for (std::size_t d = 0; d < 3; ++d) {
    size[d] = static_cast<std::int32_t>(grid_.size[d]);
    all.corner_reach[d] = surface_masks::corner_reach_mm / grid_.voxel_size_mm[d];
    margin = std::max(margin, 2 * all.corner_reach[d]);
  }
  track::triangle_cells cells = track::list_triangles(size, all.positions, all.triangles, margin);
  all.cubes = std::move(cells.cubes);
  all.cell_begin = std::move(cells.begin);
  all.cell_triangles = std::move(cells.triangles);
  return std::move(masks_);
}

}  // namespace voxherd
