#pragma once

#include <Random123/philox.h>

#include <cstdint>

#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd {

/// Two standard normals and two uniforms, as needed by two Metropolis updates.
struct draw_pair {
  float normal[2];
  float neg_log2_uniform[2];  ///< -log2(u), u in (0, 1)
};

namespace detail {

/// (w + 1/2) / 2^32 rounded to float: in (0, 1].
VOXHERD_FUNCTION inline float to_uniform(std::uint32_t w) {
  return lane::fma(static_cast<float>(w), 2.3283064365386963e-10f, 1.1641532182693481e-10f);
}

/// -log2(u) for u in (0, 1]: exponent plus polynomial, with explicit fma only, so that CPU and GPU agree to the last
/// bit.
VOXHERD_FUNCTION inline float neg_log2(float u) {
  union {
    float f;
    std::int32_t i;
  } x{u};
  const std::int32_t exponent = (x.i - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
  x.i -= exponent * (1 << 23);
  const float m = x.f - 1.0f;
  // log2(1 + m) / m, minimax on [-0.2929, 0.4143]
  float p = 0.125799612f;
  p = lane::fma(p, m, -0.207258684f);
  p = lane::fma(p, m, 0.215723125f);
  p = lane::fma(p, m, -0.238946615f);
  p = lane::fma(p, m, 0.28791575f);
  p = lane::fma(p, m, -0.360703602f);
  p = lane::fma(p, m, 0.480910654f);
  p = lane::fma(p, m, -0.721347348f);
  p = lane::fma(p, m, 1.442695f);
  return -lane::fma(p, m, static_cast<float>(exponent));
}

}  // namespace detail

/// Four random words as a function of the seed, the item's number and the position in the item's stream (Philox4x32-10,
/// Salmon 2011).
VOXHERD_FUNCTION inline philox4x32_ctr_t draw_words(std::uint64_t seed, std::uint64_t item, std::uint64_t place) {
  const philox4x32_ctr_t counter = {{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32),
                                     static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32)}};
  const philox4x32_key_t key = {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  return philox4x32(counter, key);
}

/// The draws of updates 2 * pair and 2 * pair + 1 of one voxel's chain, keyed by the seed and counted by (voxel, pair):
/// independent of the number of ranks, batches and threads, and of the device. Normals by Box-Muller.
VOXHERD_FUNCTION inline draw_pair draw(std::uint64_t seed, std::uint64_t voxel, std::uint64_t pair) {
  const philox4x32_ctr_t words = draw_words(seed, voxel, pair);

  // Radius sqrt(-2 ln u); the angle is a quadrant (two bits) plus an offset in [-pi/4, pi/4), uniform on the circle.
  const float radius = sqrtf(1.3862943611f * detail::neg_log2(detail::to_uniform(words.v[0])));
  const float offset = lane::fma(static_cast<float>(words.v[1] & 0x3fffffffu), 1.4629180793e-9f, -0.78539816340f);
  const float square = offset * offset;
  float sine = 2.7557319e-6f;
  sine = lane::fma(sine, square, -1.9841270e-4f);
  sine = lane::fma(sine, square, 8.3333333e-3f);
  sine = lane::fma(sine, square, -1.6666667e-1f);
  sine = lane::fma(sine * square, offset, offset);
  float cosine = 2.4801587e-5f;
  cosine = lane::fma(cosine, square, -1.3888889e-3f);
  cosine = lane::fma(cosine, square, 4.1666667e-2f);
  cosine = lane::fma(cosine, square, -0.5f);
  cosine = lane::fma(cosine, square, 1.0f);
  const std::uint32_t quadrant = words.v[1] >> 30;
  const float x = (quadrant & 1u) != 0 ? -sine : cosine;
  const float y = (quadrant & 1u) != 0 ? cosine : sine;
  const float sign = (quadrant & 2u) != 0 ? -radius : radius;

  draw_pair d;
  d.normal[0] = sign * x;
  d.normal[1] = sign * y;
  d.neg_log2_uniform[0] = detail::neg_log2(detail::to_uniform(words.v[2]));
  d.neg_log2_uniform[1] = detail::neg_log2(detail::to_uniform(words.v[3]));
  return d;
}

}  // namespace voxherd
