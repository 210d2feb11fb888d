#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace voxherd {

/// out[i * stride + k] = columns[k * column_stride + i] for i < rows, k < volumes, in blocks that fit into the cache.
template <class Number>
void transpose(const Number* columns, std::size_t column_stride, std::size_t rows, std::size_t volumes, Number* out,
               std::size_t stride) {
  constexpr std::size_t block = 64 / sizeof(Number);  // one cache line
  for (std::size_t k0 = 0; k0 < volumes; k0 += block) {
    const std::size_t k_end = std::min(k0 + block, volumes);
    for (std::size_t i0 = 0; i0 < rows; i0 += block) {
      const std::size_t i_end = std::min(i0 + block, rows);
      for (std::size_t i = i0; i < i_end; ++i) {
        for (std::size_t k = k0; k < k_end; ++k) out[i * stride + k] = columns[k * column_stride + i];
      }
    }
  }
}

constexpr std::size_t cache_line_bytes = 64;

/// Number of volumes transposed together, so that each row gets a cache line.
inline std::uint64_t volumes_per_group(std::size_t value_bytes, std::uint64_t volumes) {
  return std::min<std::uint64_t>(cache_line_bytes / value_bytes, volumes);
}

/// Padded by a cache line, so that a power of two of voxels does not map all columns to the same cache sets.
inline std::size_t padded_column_bytes(std::size_t value_bytes, std::uint64_t voxels) {
  return (voxels * value_bytes / cache_line_bytes + 2) * cache_line_bytes;
}

template <class Number>
void transpose_as(const std::byte* columns, std::size_t column_bytes, std::size_t rows, std::size_t volumes,
                  std::byte* out, std::size_t row_bytes) {
  transpose(reinterpret_cast<const Number*>(columns), column_bytes / sizeof(Number), rows, volumes,
            reinterpret_cast<Number*>(out), row_bytes / sizeof(Number));
}

/// Returns the transpose for values of 1, 2 or 4 bytes; their type does not matter.
inline auto find_transpose(std::size_t value_bytes) {
  return value_bytes == 1   ? transpose_as<std::uint8_t>
         : value_bytes == 2 ? transpose_as<std::uint16_t>
                            : transpose_as<std::uint32_t>;
}

}  // namespace voxherd
