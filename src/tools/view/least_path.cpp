#include "src/tools/view/least_path.hpp"

#include <algorithm>
#include <cmath>

#include "src/scan/grid_space.hpp"

namespace voxherd::view {

namespace {

constexpr std::size_t pair = 1;  // of the table of two regions: front 0 at region 1

}  // namespace

std::vector<float> trace_least_path(const connect::solver& solver, const region_table& table) {
  const auto end = static_cast<connect::path_end>(table.path_end[pair]);
  if (end == connect::path_end::never_reached) return {};
  const connect::path_request request{0, table.best_voxel[pair]};
  const std::uint64_t offsets[] = {0, table.path_steps[pair] + 1};
  std::vector<float> points(3 * offsets[1]);
  solver.trace_paths({&request, 1}, {}, offsets, points.data());
  return points;
}

double mean_along(std::span<const float> path_mm, const image_grid& grid, std::span<const std::uint64_t> voxels,
                  std::span<const float> values) {
  const grid_space space(grid);
  double sum = 0, length = 0;
  for (std::size_t p = 3; p + 3 <= path_mm.size(); p += 3) {
    vector3 middle{};
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double a = static_cast<double>(path_mm[p - 3 + d]), b = static_cast<double>(path_mm[p + d]);
      middle[d] = (a + b) / 2;
      square += (b - a) * (b - a);
    }
    const auto voxel = find_voxel(grid, space.to_index(middle));
    const auto at = std::lower_bound(voxels.begin(), voxels.end(), voxel.value_or(~std::uint64_t{0}));
    if (at == voxels.end() || *at != voxel) continue;
    sum += std::sqrt(square) * static_cast<double>(values[static_cast<std::size_t>(at - voxels.begin())]);
    length += std::sqrt(square);
  }
  return sum / length;
}

}  // namespace voxherd::view
