#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Voxels [first, end) of the flattened grid, x fastest.
struct voxel_interval {
  std::uint64_t first = 0, end = 0;
};

/// The part of a map that belongs to items [first_item, first_item + item_count): from its first item's voxel up to the
/// next item's, the first batch from voxel 0, the last one to the end. The intervals of a plan cover the grid once.
voxel_interval batch_interval(const batch& items, std::span<const std::uint64_t> item_voxels,
                              std::uint64_t voxel_count);

/// A block of the grid, order z, y, x.
struct grid_box {
  std::array<std::uint64_t, 3> start{}, count{};
};

/// An interval as at most five boxes, each one contiguous in memory, in increasing order: the rest of a row, full
/// rows, full slices, full rows, the beginning of a row. `size`: nx, ny, nz.
std::vector<grid_box> cut_into_boxes(voxel_interval interval, const std::array<std::uint64_t, 3>& size);

}  // namespace voxherd
