#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/analyses/connect/arrivals.hpp"

namespace voxherd::view {

/// The least-cost path from the first front's region to the second's, traced back: points in mm from the second region
/// to the first. Empty if there is none.
std::vector<float> trace_least_path(const connect::solver& solver, const region_table& table);

/// Mean of the values of the voxels that a path passes, weighted by its length in them; NaN without such voxels.
/// `voxels`: increasing linear indices of the grid; `values`: one for each.
double mean_along(std::span<const float> path_mm, const image_grid& grid, std::span<const std::uint64_t> voxels,
                  std::span<const float> values);

}  // namespace voxherd::view
