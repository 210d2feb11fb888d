#include "mpi/result/voxel_interval.hpp"

#include <algorithm>

namespace voxherd {

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
