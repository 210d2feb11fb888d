#include "src/analyses/track/surface_masks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/failure.hpp"
#include "core/main_memory.hpp"
#include "core/text.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

constexpr double corner_reach_mm = 0.001;  // FSL's

}  // namespace

std::array<float, 3> to_float(const vector3& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

std::size_t surface_masks::add(const std::string& path, mesh_space meshes, const fsl_grid& grid) {
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const file& f) { return f.path == path; });
  if (known != files_.end()) return static_cast<std::size_t>(known - files_.begin());
  placed_surface mesh = place_surface(path, meshes, grid);
  const auto values = values_of_.find(path);
  std::string label_file;
  if (values != values_of_.end() && replace_values(values->second, mesh).is_label) label_file = values->second;
  constexpr std::size_t max_vertices = 0x3fffffff;
  if (vertices() + mesh.vertices() > max_vertices)
    refuse_data(fmt::format("{}: all surfaces have more than {} vertices", path, max_vertices));
  constexpr double vertex_bytes = 64, triangle_bytes = 32;  // here, in seeds, places and lists of triangles
  require_memory(
      vertex_bytes * static_cast<double>(mesh.vertices()) + triangle_bytes * static_cast<double>(mesh.triangles.size()),
      fmt::format("{}: {} vertices and {} triangles", path, mesh.vertices(), mesh.triangles.size()));
  const auto first = static_cast<std::uint32_t>(vertices());
  positions_.insert(positions_.end(), mesh.positions.begin(), mesh.positions.end());
  const std::vector<std::uint8_t> active = find_active(mesh);
  std::vector<std::uint32_t> triangles_of(active.size());
  for (const auto& t : mesh.triangles)
    for (const std::uint32_t corner : t) ++triangles_of[corner];
  active_.insert(active_.end(), active.begin(), active.end());
  for (auto corner : mesh.triangles) {
    if (active[corner[0]] + active[corner[1]] + active[corner[2]] == 0) continue;
    std::sort(corner.begin(), corner.end());
    std::uint32_t tips = 0;
    for (std::uint32_t i = 0; i < 3; ++i) tips |= triangles_of[corner[i]] == 1 ? 1u << i : 0;
    triangles_.push_back(
        {{first + corner[0], first + corner[1], first + corner[2]}, static_cast<std::uint32_t>(files_.size()), tips});
  }
  files_.push_back({path, mesh.structure, first, static_cast<std::uint32_t>(mesh.vertices()), label_file});
  uses_.emplace_back();
  targets_of_.emplace_back();
  return files_.size() - 1;
}

vector3 surface_masks::position(std::size_t vertex) const {
  const float* p = &positions_[3 * vertex];
  return {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
}

std::size_t surface_masks::find(const std::string& path) const {
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const file& f) { return f.path == path; });
  return static_cast<std::size_t>(known - files_.begin());
}

void surface_masks::finish(const fsl_grid& grid) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    uses_[i].first_target = static_cast<std::uint32_t>(targets_.size());
    targets_.insert(targets_.end(), targets_of_[i].begin(), targets_of_[i].end());
    uses_[i].end_target = static_cast<std::uint32_t>(targets_.size());
  }
  const bool is_mask = std::any_of(uses_.begin(), uses_.end(), [](const auto& use) { return use.is_mask(); });
  if (!is_mask && !has_columns_) return;
  std::int32_t size[3];
  double margin = 0.002;  // more than the rounding of a voxel's border
  for (std::size_t d = 0; d < 3; ++d) {
    size[d] = static_cast<std::int32_t>(grid.size[d]);
    corner_reach_[d] = corner_reach_mm / grid.voxel_size_mm[d];
    margin = std::max(margin, 2 * corner_reach_[d]);
  }
  cells_ = track::list_triangles(size, positions_, triangles_, margin);
}

void surface_masks::broadcast(const session& s) {
  auto all = std::tie(files_, positions_, active_, triangles_, uses_, targets_, cells_.cubes, cells_.begin,
                      cells_.triangles, corner_reach_);
  s.broadcast(all);
}

track::surface_input surface_masks::input() const {
  track::surface_input in{cells_.cubes, cells_.begin, cells_.triangles, triangles_, positions_, uses_,
                          targets_,     {},           one_corner_};
  for (std::size_t d = 0; d < 3; ++d) {
    in.corner_reach[d] = static_cast<float>(corner_reach_[d]);
    in.voxel_mm[d] = static_cast<float>(corner_reach_mm / corner_reach_[d]);
  }
  return in;
}

nlohmann::json describe_list(const std::vector<std::string>& paths, const std::vector<std::uint64_t>& sizes,
                             const surface_masks& surfaces) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_surface = is_surface_mask(paths[i]);
    nlohmann::json entry = {{"file", one_line(std::filesystem::path(paths[i]).filename().string())},
                            {"kind", is_surface ? "surface" : "volume"},
                            {is_surface ? "vertices" : "voxels", sizes[i]}};
    if (is_surface) entry["structure"] = surfaces.files()[surfaces.find(paths[i])].structure;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace voxherd
