#pragma once

#include <cstdint>

#include "kernels/portable/draws.hpp"

namespace voxherd::track {

/// draw_words() of places that follow each other at a distance of `stride`. On the CPU some are computed ahead, one per
/// SIMD lane. `seed` is always the same.
class step_words {
 public:
  static constexpr std::uint64_t stride = 8;

  VOXHERD_FUNCTION philox4x32_ctr_t at(std::uint64_t seed, std::uint64_t item, std::uint64_t place) {
#if defined(__CUDA_ARCH__)
    return draw_words(seed, item, place);
#else
    const std::uint64_t ahead = place - first_;
    if (item == item_ && ahead < count * stride && ahead % stride == 0) return pick(ahead / stride);
    compute(seed, item, place);
    return pick(0);
#endif
  }

 private:
#if !defined(__CUDA_ARCH__)
  static constexpr std::size_t count = 8;

  philox4x32_ctr_t pick(std::size_t i) const { return {{words_[0][i], words_[1][i], words_[2][i], words_[3][i]}}; }

  void compute(std::uint64_t seed, std::uint64_t item, std::uint64_t place);

  std::uint64_t item_ = 0, first_ = ~std::uint64_t{0} - count * stride;  // no place is so high
  std::uint32_t words_[4][count] = {};
#endif
};

#if !defined(__CUDA_ARCH__)
/// Philox4x32 with 10 rounds (Salmon 2011), as draw_words(), with a place in each lane.
inline void step_words::compute(std::uint64_t seed, std::uint64_t item, std::uint64_t place) {
  using lanes [[gnu::vector_size(count * sizeof(std::uint64_t))]] = std::uint64_t;
  constexpr std::uint64_t low = 0xffffffff, first_factor = PHILOX_M4x32_0, second_factor = PHILOX_M4x32_1;
  std::uint64_t key[2] = {seed & low, seed >> 32};
  lanes places{};
  for (std::size_t i = 0; i < count; ++i) places[i] = place + i * stride;
  lanes x0 = places & low, x1 = places >> 32, x2 = lanes{} + (item & low), x3 = lanes{} + (item >> 32);
  for (int round = 0; round < 10; ++round) {
    const lanes p0 = x0 * first_factor, p1 = x2 * second_factor;
    x0 = (p1 >> 32) ^ x1 ^ key[0], x2 = (p0 >> 32) ^ x3 ^ key[1];
    x1 = p1 & low, x3 = p0 & low;
    key[0] = (key[0] + PHILOX_W32_0) & low, key[1] = (key[1] + PHILOX_W32_1) & low;
  }
  for (std::size_t i = 0; i < count; ++i) {
    words_[0][i] = static_cast<std::uint32_t>(x0[i]), words_[1][i] = static_cast<std::uint32_t>(x1[i]);
    words_[2][i] = static_cast<std::uint32_t>(x2[i]), words_[3][i] = static_cast<std::uint32_t>(x3[i]);
  }
  item_ = item, first_ = place;
}
#endif

}  // namespace voxherd::track
