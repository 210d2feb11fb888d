#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Consecutive rows of a dataset of layout `items` or `points`.
struct row_range {
  std::uint64_t first = 0, count = 0;
};

/// The rows that belong to a batch. `point_offsets`: see analysis::point_offsets().
row_range batch_rows(const batch& items, output_layout layout, std::span<const std::uint64_t> point_offsets);

/// Largest numbers of items and points in a batch of a plan; not necessarily of the same batch.
struct batch_room {
  std::uint64_t items = 0, points = 0;
  std::uint64_t rows(output_layout layout) const { return layout == output_layout::points ? points : items; }
};
batch_room largest_room(std::span<const batch> batches, std::span<const std::uint64_t> point_offsets);

/// All items, cut into ranges of at most `max_items` items and `max_points` points each (a larger item is a range of
/// its own), to process the fibres of a result piece by piece. Both limits > 0.
std::vector<batch> cut_into_pieces(std::span<const std::uint64_t> point_offsets, std::uint64_t max_points,
                                   std::uint64_t max_items = std::uint64_t{1} << 20);

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
