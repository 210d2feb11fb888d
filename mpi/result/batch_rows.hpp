#pragma once

#include <cstdint>
#include <span>
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

}  // namespace voxherd
