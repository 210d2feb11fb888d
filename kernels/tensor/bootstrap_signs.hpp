#pragma once

#include <cstdint>

#include "kernels/portable/draws.hpp"

namespace voxherd {

/// Signs are drawn 128 at once.
inline constexpr std::size_t signs_per_draw = 128;

/// The signs of measurements 128 n to 128 n + 127, one bit each: bit k % 64 of word k % 128 / 64; set if the residual
/// is negated. Counted by (voxel's index in the image, replicate, n), keyed by the seed.
struct sign_words {
  std::uint64_t word[2];
};

VOXHERD_FUNCTION inline sign_words draw_signs(std::uint64_t seed, std::uint64_t voxel, std::uint64_t replicate,
                                              std::uint64_t n) {
  const philox4x32_ctr_t drawn = draw_words(seed, voxel, replicate | n << 32);
  return {{drawn.v[0] | std::uint64_t{drawn.v[1]} << 32, drawn.v[2] | std::uint64_t{drawn.v[3]} << 32}};
}

/// 1 if the residual of measurement k is negated.
VOXHERD_FUNCTION inline std::uint64_t is_turned(const sign_words& signs, std::size_t k) {
  return signs.word[k / 64 % 2] >> (k % 64) & 1u;
}

}  // namespace voxherd
