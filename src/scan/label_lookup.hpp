#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// How many points a voxel of `grid` is sampled at along each of its axes, so that they are no further apart than the
/// voxels of `labels`; 1 to 10.
std::array<int, 3> samples_per_axis(const image_grid& grid, const image_grid& labels);

/// Labels of another grid on this one, by world coordinates of each voxel's samples: the most frequent above 0, the
/// smaller of equally frequent ones; 0 where no sample has any. `mostly_none`: voxels that have a label in less than
/// half of their samples.
std::vector<std::int32_t> look_up(const std::vector<std::int32_t>& labels, const image_grid& of, const image_grid& grid,
                                  std::uint64_t& mostly_none);

}  // namespace voxherd
