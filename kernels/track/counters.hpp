#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::track {

/// Integer sums over the accepted streamlines of one group; null for what is not wanted. On a GPU many threads add to
/// the same arrays; sums of integers do not depend on the order.
struct counters {
  std::uint32_t* density = nullptr;   ///< streamlines that visit each place, each counted once
  std::uint64_t* length = nullptr;    ///< sum of their steps from the seed at the first visit, by place
  std::uint32_t* accepted = nullptr;  ///< accepted streamlines by seed of the group
  std::uint32_t* hits = nullptr;      ///< streamlines that reach a column (a region or a target), by seed and column
  std::uint64_t* hit_length = nullptr;
  std::uint64_t* walked = nullptr;      ///< steps of all streamlines when they were first drawn
  std::uint64_t* directions = nullptr;  ///< products of the components of their directions, by place
  std::uint32_t* cells = nullptr;       ///< counts by seed and column of a matrix
  std::uint64_t* cell_length = nullptr;
  std::uint32_t* accepted_bits = nullptr;  ///< one bit per streamline of the group: it is accepted
};

/// Elements of accepted_bits for so many streamlines.
VOXHERD_FUNCTION inline std::uint64_t bit_words(std::uint64_t streamlines) { return (streamlines + 31) / 32; }

/// xx, yy, zz, xy, xz, yz.
constexpr int direction_products = 6;
constexpr int product_shift = 6;  ///< bits of a product that are left out, so that 2^39 of them can be added

/// A signed product of two components of directions as a term of a sum modulo 2^64.
VOXHERD_FUNCTION inline std::uint64_t to_sum(std::int32_t product) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>((product + (1 << (product_shift - 1))) >> product_shift));
}

VOXHERD_FUNCTION inline void add(std::uint32_t* to, std::uint32_t value) {
  if (to == nullptr) return;
#if defined(__CUDA_ARCH__)
  atomicAdd(to, value);
#else
  *to += value;
#endif
}

VOXHERD_FUNCTION inline void add(std::uint64_t* to, std::uint64_t value) {
  if (to == nullptr) return;
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  *to += value;
#endif
}

/// Element `i` of an array that may be null.
template <class T>
VOXHERD_FUNCTION T* element(T* array, std::size_t i) {
  return array == nullptr ? nullptr : array + i;
}

}  // namespace voxherd::track
