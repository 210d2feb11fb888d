#include "src/view/lone_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "src/io/input_file.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd::view {

namespace {

std::string file_name(const std::string& path) { return printable(std::filesystem::path(path).filename().string()); }

/// The map's name, or with a number if another map has it.
std::string find_free_name(const std::string& name, const std::vector<vertex_map>& maps) {
  std::string free = name;
  for (int i = 2; std::any_of(maps.begin(), maps.end(), [&](const vertex_map& m) { return m.name == free; }); ++i)
    free = fmt::format("{} ({})", name, i);
  return free;
}

void add_maps(const std::string& path, surface_values read, shown_surface& s) {
  std::map<std::int32_t, std::string> names;
  if (read.is_label)
    for (const surface_label& l : read.labels) names[l.key] = printable(l.name);
  for (vertex_values& array : read.arrays) {
    const std::string name = array.name.empty() ? file_name(path) : printable(array.name);
    s.maps.push_back(
        {find_free_name(name, s.maps), "", "values of " + file_name(path), "no value", std::move(array.values), names});
  }
}

}  // namespace

shown_surface read_lone_surface(const std::string& path, const std::vector<std::string>& values) {
  shown_surface s;
  s.name = file_name(path);
  s.mesh = read_surface(path);
  for (const std::string& file : values)
    add_maps(file, read_vertex_values(file, path, s.mesh.structure, s.mesh.points_mm.size()), s);
  if (!s.mesh.values.empty()) add_maps(path, {s.mesh.structure, {{"", s.mesh.values}}, {}, false}, s);
  return s;
}

image_grid grid_around(const surface& mesh) {
  constexpr double max_voxels = 100, margin = 2;  // voxels
  std::array<double, 3> low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [least, greatest] = std::minmax_element(mesh.points_mm.begin(), mesh.points_mm.end(),
                                                       [d](const auto& a, const auto& b) { return a[d] < b[d]; });
    low[d] = static_cast<double>((*least)[d]);
    high[d] = static_cast<double>((*greatest)[d]);
  }
  const double side = std::max(
      {1.0, (high[0] - low[0]) / max_voxels, (high[1] - low[1]) / max_voxels, (high[2] - low[2]) / max_voxels});
  image_grid grid;
  grid.voxel_to_world[15] = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    grid.size[d] = static_cast<std::uint64_t>(std::ceil((high[d] - low[d]) / side + 2 * margin)) + 1;
    grid.voxel_size_mm[d] = side;
    grid.voxel_to_world[5 * d] = side;
    grid.voxel_to_world[4 * d + 3] = low[d] - margin * side;
  }
  return grid;
}

}  // namespace voxherd::view
