#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::geodesic {

/// A number that decreases with the measure; -0 and +0 are equal; NaN gives the largest number.
VOXHERD_FUNCTION inline std::uint32_t falling_bits(float measure) {
  if (measure != measure) return 0xffffffffu;
  const float without_minus_zero = measure + 0.0f;
  const auto bits = __builtin_bit_cast(std::uint32_t, without_minus_zero);
  // The bits of positive floats increase with the float, those of negative ones decrease: setting the sign bit of the
  // former and inverting all bits of the latter gives increasing numbers.
  const std::uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return ~rising;
}

/// Sorts candidates by pair, then by decreasing measure, NaN last.
VOXHERD_FUNCTION inline std::uint64_t rank_key(std::uint32_t pair, float measure) {
  return static_cast<std::uint64_t>(pair) << 32 | falling_bits(measure);
}

}  // namespace voxherd::geodesic
