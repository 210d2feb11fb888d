#include "mpi/result/rows.hpp"

#include <algorithm>
#include <cstring>

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

voxel_interval batch_interval(const batch& items, std::span<const std::uint64_t> item_voxels,
                              std::uint64_t voxel_count) {
  const std::uint64_t next = items.first_item + items.item_count;
  return {items.first_item == 0 ? 0 : item_voxels[items.first_item],
          next == item_voxels.size() ? voxel_count : item_voxels[next]};
}

std::vector<grid_box> cut_into_boxes(voxel_interval interval, const std::array<std::uint64_t, 3>& size) {
  const std::uint64_t row = size[0], slice = size[0] * size[1];
  std::vector<grid_box> boxes;
  for (std::uint64_t at = interval.first; at < interval.end;) {
    const std::uint64_t left = interval.end - at;
    const std::uint64_t x = at % row, y = at / row % size[1], z = at / slice;
    grid_box box{{z, y, x}, {1, 1, 1}};
    if (x != 0 || left < row) {
      box.count[2] = std::min(row - x, left);
    } else {
      box.count[2] = row;
      if (y != 0 || left < slice) {
        box.count[1] = std::min(size[1] - y, left / row);
      } else {
        box.count[1] = size[1];
        box.count[0] = left / slice;
      }
    }
    at += box.count[0] * box.count[1] * box.count[2];
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace voxherd
