#include "mpi/result/batch_rows.hpp"

#include <algorithm>

namespace voxherd {

row_range batch_rows(const batch& items, output_layout layout, std::span<const std::uint64_t> point_offsets) {
  if (layout != output_layout::points) return {items.first_item, items.item_count};
  const std::uint64_t first = point_offsets[items.first_item];
  return {first, point_offsets[items.first_item + items.item_count] - first};
}

batch_room largest_room(std::span<const batch> batches, std::span<const std::uint64_t> point_offsets) {
  batch_room room;
  for (const batch& b : batches) {
    room.items = std::max(room.items, b.item_count);
    if (point_offsets.empty()) continue;
    room.points = std::max(room.points, batch_rows(b, output_layout::points, point_offsets).count);
  }
  return room;
}

std::vector<batch> cut_into_pieces(std::span<const std::uint64_t> point_offsets, std::uint64_t max_points,
                                   std::uint64_t max_items) {
  std::vector<batch> pieces;
  for (std::uint64_t first = 0; first + 1 < point_offsets.size();) {
    std::uint64_t end = first + 1;
    while (end + 1 < point_offsets.size() && end - first < max_items &&
           point_offsets[end + 1] - point_offsets[first] <= max_points) {
      ++end;
    }
    pieces.push_back({pieces.size(), first, end - first});
    first = end;
  }
  return pieces;
}

}  // namespace voxherd
