#include "mpi/result/batch_reading.hpp"

#include "core/checksum.hpp"
#include "mpi/result/batch_rows.hpp"
#include "mpi/result/voxel_interval.hpp"

namespace voxherd::hdf5 {

void read_block(hid_t file, const output_spec& o, hid_t type, std::span<const std::uint64_t> start,
                std::span<const std::uint64_t> count, void* values) {
  read_block(open_dataset(file, dataset_path(o)), type, start, count, values, dataset_path(o));
}

void read_rows(hid_t file, const output_spec& o, hid_t type, std::uint64_t first, std::uint64_t rows, void* values) {
  std::vector<std::uint64_t> start(1 + o.shape.size(), 0), count{rows};
  start[0] = first;
  count.insert(count.end(), o.shape.begin(), o.shape.end());
  read_block(file, o, type, start, count, values);
}

std::vector<std::byte> read_batch(hid_t file, const result_layout& layout, const output_spec& o, const batch& items) {
  if (o.layout != output_layout::volume) {
    const row_range rows = batch_rows(items, o.layout, layout.point_offsets);
    std::vector<std::byte> bytes(rows.count * o.bytes_per_item());
    read_rows(file, o, file_type(o.type), rows.first, rows.count, bytes.data());
    return bytes;
  }
  const voxel_interval interval = batch_interval(items, layout.item_voxels, layout.grid.voxel_count());
  std::vector<std::byte> bytes((interval.end - interval.first) * o.bytes_per_item());
  std::byte* to = bytes.data();
  for (const grid_box& box : cut_into_boxes(interval, layout.grid.size)) {
    std::vector<std::uint64_t> start(box.start.begin(), box.start.end()), count(box.count.begin(), box.count.end());
    start.resize(3 + o.shape.size(), 0);
    count.insert(count.end(), o.shape.begin(), o.shape.end());
    read_block(file, o, file_type(o.type), start, count, to);
    to += box.count[0] * box.count[1] * box.count[2] * o.bytes_per_item();
  }
  return bytes;
}

std::uint64_t batch_checksum(hid_t file, const result_layout& layout, const batch& items) {
  checksum sum;
  for (const output_spec& o : layout.outputs) sum.add(read_batch(file, layout, o, items));
  return sum.value();
}

}  // namespace voxherd::hdf5
