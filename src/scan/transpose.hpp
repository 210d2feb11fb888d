#pragma once

#include <algorithm>
#include <cstddef>

namespace voxherd {

constexpr std::size_t cache_line_bytes = 64;

/// out[i * stride + k] = columns[k * column_stride + i] for i < rows, k < volumes, in blocks that fit into the cache.
template <class Number>
void transpose(const Number* columns, std::size_t column_stride, std::size_t rows, std::size_t volumes, Number* out,
               std::size_t stride) {
  constexpr std::size_t block = cache_line_bytes / sizeof(Number);
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

}  // namespace voxherd
