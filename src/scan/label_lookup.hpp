#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Number of sample points per voxel of `grid` along each axis, so that their distance does not exceed the voxel size
/// of `labels`; 1 to 10.
std::array<int, 3> samples_per_axis(const image_grid& grid, const image_grid& labels);

/// Resamples labels from the grid `of` to `grid` by world coordinates: the most frequent label above 0 among a voxel's
/// samples, the smaller one in a tie; 0 if no sample has a label. `mostly_none` returns the number of voxels that have
/// a label in less than half of their samples.
std::vector<std::int32_t> look_up(const std::vector<std::int32_t>& labels, const image_grid& of, const image_grid& grid,
                                  std::uint64_t& mostly_none);

}  // namespace voxherd
