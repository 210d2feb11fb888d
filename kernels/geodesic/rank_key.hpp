#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::geodesic {

/// A number that is the smaller, the larger the measure is; -0 and +0 are one; any NaN is the largest of all.
VOXHERD_FUNCTION inline std::uint32_t falling_bits(float measure) {
  if (measure != measure) return 0xffffffffu;
  const float without_minus_zero = measure + 0.0f;
  const auto bits = __builtin_bit_cast(std::uint32_t, without_minus_zero);
  // The bits of positive floats rise with the float, those of negative ones fall: rising is the former with the sign
  // set, the latter with all bits turned.
  const std::uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return ~rising;
}

/// Sorted by it, candidates stand by pair, then by falling measure, those without a number last.
VOXHERD_FUNCTION inline std::uint64_t rank_key(std::uint32_t pair, float measure) {
  return static_cast<std::uint64_t>(pair) << 32 | falling_bits(measure);
}

}  // namespace voxherd::geodesic
