#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/scan/transpose.hpp"

namespace voxherd {

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
