#include "mpi/result/item_rows.hpp"

#include <cstring>

namespace voxherd {

std::vector<std::byte> read_item_rows(const result_reader& reader, const output_spec& output, const batch& items) {
  std::vector<std::byte> stored = reader.read_batch(output.name, items);
  if (output.layout != output_layout::volume) return stored;
  const std::size_t bytes = output.bytes_per_item();
  const auto& voxels = reader.item_voxels();
  // A batch's part of a map starts at its first voxel, for the first batch at voxel 0.
  const std::uint64_t first = items.first_item == 0 ? 0 : voxels[items.first_item];
  std::vector<std::byte> rows(items.item_count * bytes);
  for (std::uint64_t i = 0; i < items.item_count; ++i)
    std::memcpy(&rows[i * bytes], &stored[(voxels[items.first_item + i] - first) * bytes], bytes);
  return rows;
}

}  // namespace voxherd
