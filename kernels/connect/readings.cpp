#include "kernels/connect/readings.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/connect/path.hpp"

namespace voxherd::connect {

region_cells find_region_cells(const lattice& l, const region_list& regions) {
  region_cells cells;
  if (regions.offsets.empty() || regions.offsets.front() != 0 || regions.offsets.back() != regions.voxels.size() ||
      !std::is_sorted(regions.offsets.begin(), regions.offsets.end()))
    throw std::invalid_argument("connect: the region offsets do not match the region voxels");
  cells.offset = regions.offsets;
  cells.cell.reserve(regions.voxels.size());
  for (const std::uint32_t voxel : regions.voxels) {
    if (voxel >= l.cell_of_number.size())
      throw std::invalid_argument("connect: a region contains a voxel outside the mask");
    cells.cell.push_back(l.cell_of_number[voxel]);
  }
  return cells;
}

std::vector<std::uint32_t> number_of_cell(const lattice& l) {
  std::vector<std::uint32_t> number(l.cells(), ~std::uint32_t{0});
  for (std::size_t n = 0; n < l.cell_of_number.size(); ++n) number[l.cell_of_number[n]] = static_cast<std::uint32_t>(n);
  return number;
}

void check_paths(std::span<const path_request> paths, std::size_t fronts, std::size_t voxels,
                 const path_settings& settings) {
  if (!(settings.step_voxels >= 0.01f && settings.step_voxels <= 1))
    throw std::invalid_argument("connect: expected a path step of 0.01 to 1 voxels");
  if (paths.size() >> 32 != 0) throw std::invalid_argument("connect: too many paths at once");
  for (const path_request& p : paths)
    if (p.front >= fronts || p.voxel >= voxels)
      throw std::invalid_argument("connect: a path request refers to a missing front or voxel");
}

std::uint32_t fronts_at_once(const lattice& l, std::size_t fronts, std::size_t max_bytes) {
  const std::size_t most = max_bytes / (l.cells() * sizeof(flow));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(most, 1, std::max<std::size_t>(1, fronts)));
}

bool any_of_fronts(std::span<const path_request> paths, std::uint32_t first, std::uint32_t count) {
  return std::any_of(paths.begin(), paths.end(),
                     [=](const path_request& p) { return p.front >= first && p.front - first < count; });
}

path_follower make_follower(const path_settings& settings, const double (&axes_mm)[9], const double (&origin_mm)[3]) {
  path_follower f{};
  f.settings = settings;
  for (int i = 0; i < 9; ++i) f.axes_mm[i] = static_cast<float>(axes_mm[i]);
  for (int i = 0; i < 3; ++i) f.origin_mm[i] = static_cast<float>(origin_mm[i]);
  return f;
}

}  // namespace voxherd::connect
