#pragma once

#include <cstddef>
#include <cstdint>

/// Compresses the rows of a dense table in device memory.
namespace voxherd::track {

constexpr unsigned block_threads = 128;

/// Entries of each row of a dense table. One warp per row.
static __global__ void __launch_bounds__(block_threads)
    size_kernel(const std::uint32_t* cells, std::size_t rows, std::uint32_t columns, std::uint32_t* sizes) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x) / 32;
  if (row >= rows) return;
  std::uint32_t size = 0;
  for (std::uint32_t first = 0; first < columns; first += 32) {
    const std::uint32_t i = first + threadIdx.x % 32;
    size += __popc(__ballot_sync(~0u, i < columns && cells[row * columns + i] != 0));
  }
  if (threadIdx.x % 32 == 0) sizes[row] = size;
}

/// Writes the entries of row i from place begin[i] on, by column.
static __global__ void __launch_bounds__(block_threads)
    compress_kernel(const std::uint32_t* cells, const std::uint64_t* length, std::size_t rows, std::uint32_t columns,
                    const std::uint64_t* begin, std::uint32_t* column, std::uint32_t* count, std::uint64_t* steps) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x) / 32;
  if (row >= rows) return;
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t next = begin[row];
  for (std::uint32_t first = 0; first < columns; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t value = i < columns ? cells[row * columns + i] : 0;
    const std::uint32_t used = __ballot_sync(~0u, value != 0);
    if (value != 0) {
      const std::uint64_t at = next + __popc(used & ((1u << lane) - 1));
      column[at] = i;
      count[at] = value;
      steps[at] = length[row * columns + i];
    }
    next += __popc(used);
  }
}

}  // namespace voxherd::track
