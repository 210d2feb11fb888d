#pragma once

#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/portable/draws.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/track/field.hpp"
#include "kernels/track/settings.hpp"

namespace voxherd::track {

/// draw_words() of places that follow each other at a distance of `stride`. On the CPU some are computed ahead, one per
/// SIMD lane. `seed` is always the same.
class step_words {
 public:
  static constexpr std::uint64_t stride = 8;

  VOXHERD_INLINED philox4x32_ctr_t at(std::uint64_t seed, std::uint64_t item, std::uint64_t place) {
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
  static constexpr std::size_t count = 16;

  philox4x32_ctr_t pick(std::size_t i) const { return {{words_[0][i], words_[1][i], words_[2][i], words_[3][i]}}; }

  void compute(std::uint64_t seed, std::uint64_t item, std::uint64_t place);

  std::uint64_t item_ = 0, first_ = ~std::uint64_t{0} - count * stride;  // no place is so high
  std::uint32_t words_[4][count] = {};
#endif
};

#if !defined(__CUDA_ARCH__)
#if defined(__AVX512F__) && !defined(__CUDACC__)
inline constexpr std::size_t words_at_once = 8;
#elif defined(__AVX2__) && !defined(__CUDACC__)
inline constexpr std::size_t words_at_once = 4;
#else
inline constexpr std::size_t words_at_once = 2;
#endif
using narrow_words [[gnu::vector_size(words_at_once * sizeof(std::uint32_t))]] = std::uint32_t;
using wide_words [[gnu::vector_size(words_at_once * sizeof(std::uint64_t))]] = std::uint64_t;

/// a * b for numbers below 2^32; compilers would multiply all 64 bits.
VOXHERD_INLINED wide_words multiply(wide_words a, wide_words b) {
#if defined(__AVX512F__) && !defined(__CUDACC__)
  return std::bit_cast<wide_words>(_mm512_mul_epu32(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__) && !defined(__CUDACC__)
  return std::bit_cast<wide_words>(_mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#else
  return a * b;
#endif
}

/// Philox4x32 with 10 rounds (Salmon 2011), as draw_words(), with a place in each lane. Two registers of places are
/// computed in turns: while the products of one are not ready yet, those of the other are started.
inline void step_words::compute(std::uint64_t seed, std::uint64_t item, std::uint64_t place) {
  constexpr std::uint64_t low = 0xffffffff;
  constexpr int parts = 2;
  const wide_words first_factor = wide_words{} + PHILOX_M4x32_0, second_factor = wide_words{} + PHILOX_M4x32_1;
  for (std::size_t first = 0; first < count; first += parts * words_at_once) {
    std::uint64_t key[2] = {seed & low, seed >> 32};
    wide_words x[4][parts];
    for (std::size_t n = 0; n < parts; ++n) {
      wide_words places{};
      for (std::size_t i = 0; i < words_at_once; ++i) places[i] = place + (first + n * words_at_once + i) * stride;
      x[0][n] = places & low, x[1][n] = places >> 32;
      x[2][n] = wide_words{} + (item & low), x[3][n] = wide_words{} + (item >> 32);
    }
    for (int round = 0; round < 10; ++round) {
      for (int n = 0; n < parts; ++n) {
        const wide_words p0 = multiply(x[0][n], first_factor), p1 = multiply(x[2][n], second_factor);
        x[0][n] = (p1 >> 32) ^ x[1][n] ^ key[0], x[2][n] = (p0 >> 32) ^ x[3][n] ^ key[1];
        x[1][n] = p1 & low, x[3][n] = p0 & low;
      }
      key[0] = (key[0] + PHILOX_W32_0) & low, key[1] = (key[1] + PHILOX_W32_1) & low;
    }
    for (int k = 0; k < 4; ++k)
      for (std::size_t n = 0; n < parts; ++n) {
        const auto narrow = __builtin_convertvector(x[k][n], narrow_words);
        std::memcpy(words_[k] + first + n * words_at_once, &narrow, sizeof narrow);
      }
  }
  item_ = item, first_ = place;
}
#endif

/// Random bits as a number in [0, 1), exact.
VOXHERD_FUNCTION inline float to_share(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 5.9604644775390625e-8f;
}

VOXHERD_FUNCTION inline std::int32_t nearest_voxel(float position) {
  return static_cast<std::int32_t>(lane::floor(position + 0.5f));
}

/// A voxel of the samples' image; outside it one that no streamline reaches.
VOXHERD_INLINED voxel_info look_up(const field_view& field, std::int32_t x, std::int32_t y, std::int32_t z) {
  const bool in_image = x >= 0 && y >= 0 && z >= 0 && x < field.size[0] && y < field.size[1] && z < field.size[2];
  if (!in_image) return {-1, 0};
  const auto row = static_cast<std::size_t>(z) * static_cast<std::size_t>(field.size[1]) + static_cast<std::size_t>(y);
  return field.voxels[row * static_cast<std::size_t>(field.size[0]) + static_cast<std::size_t>(x)];
}

/// The masks that a half may enter and pass, but not leave; one bit each. A half that starts inside one may leave it
/// once.
class mask_exits {
 public:
  VOXHERD_FUNCTION void begin(std::uint32_t at_start) {
    excused_ = at_start;
    entered_ = 0;
  }

  /// Moves to a point that is in the masks `here`. Returns false if it has left one.
  VOXHERD_FUNCTION bool move(std::uint32_t here) {
    if ((entered_ & ~here) != 0) return false;
    excused_ &= here;
    entered_ |= here & ~excused_;
    return true;
  }

 private:
  std::uint32_t excused_ = 0;  ///< masks in which the half has been since its start
  std::uint32_t entered_ = 0;
};

/// An integer below `count`, from 32 random bits.
VOXHERD_FUNCTION inline std::uint32_t pick(std::uint32_t word, std::uint32_t count) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) * count >> 32);
}

/// Number of the fibre of a sample that the first step of a half follows.
VOXHERD_FUNCTION inline int choose_first(const packed_fibre* fibres, const walk_settings& how, std::uint32_t word) {
  assert(how.fibres > 0 && how.start_fibre <= how.fibres);
  if (how.start_fibre > 0) return how.start_fibre - 1;
  if (how.fibres == 1 || how.first == first_fibre::strongest) return 0;
  if (how.first == first_fibre::any) return static_cast<int>(pick(word, static_cast<std::uint32_t>(how.fibres)));
  const auto weight = [&](int k) -> std::uint32_t {
    if (fibres[k].fraction <= how.min_fraction) return 0;
    return how.first == first_fibre::weighted ? fibres[k].fraction : 1;
  };
  std::uint32_t total = 0;
  for (int k = 0; k < how.fibres; ++k) total += weight(k);
  std::uint32_t left = pick(word, total);
  for (int k = 0; k < how.fibres; ++k) {
    const std::uint32_t own = weight(k);
    if (left < own) return k;
    left -= own;
  }
  return 0;
}

/// The fibre that is closest to the direction of travel among those above the threshold.
VOXHERD_FUNCTION inline packed_fibre choose_closest(const packed_fibre* fibres, const walk_settings& how,
                                                    const direction& travel) {
#if defined(__CUDA_ARCH__)
  packed_fibre closest = fibres[0];
  std::int32_t largest = -1;
  for (int k = 0; k < how.fibres; ++k) {
    const packed_fibre fibre = fibres[k];
    const std::int32_t product = dot(fibre.axis(), travel), size = product < 0 ? -product : product;
    if (fibre.fraction > how.min_fraction && size > largest) closest = fibre, largest = size;
  }
  return closest;
#else
  // Without branches, which a CPU could not predict.
  std::uint64_t closest = 0;
  std::int32_t largest = -1;
  for (int k = 0; k < how.fibres; ++k) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, fibres + k, sizeof bits);
    if (k == 0) closest = bits;
    const auto fibre = std::bit_cast<packed_fibre>(bits);
    const std::int32_t product = dot(fibre.axis(), travel);
    const std::int32_t size =
        (product < 0 ? -product : product) | -static_cast<std::int32_t>(fibre.fraction <= how.min_fraction);
    closest = size > largest ? bits : closest;
    largest = size > largest ? size : largest;
  }
  return std::bit_cast<packed_fibre>(closest);
#endif
}

/// The fibre that the next step of a half follows.
VOXHERD_FUNCTION inline packed_fibre choose_fibre(const packed_fibre* fibres, const walk_settings& how, bool first,
                                                  const direction& travel, std::uint32_t word) {
  return first ? fibres[choose_first(fibres, how, word)] : choose_closest(fibres, how, travel);
}

/// The unit direction between two, the second one turned to the side of the first. The same on every device: one
/// rounding of a product that is given explicitly.
VOXHERD_FUNCTION inline direction mean_direction(const direction& a, const direction& b) {
  const bool opposite = dot(a, b) < 0;
  const std::int32_t sum[3] = {opposite ? a.x - b.x : a.x + b.x, opposite ? a.y - b.y : a.y + b.y,
                               opposite ? a.z - b.z : a.z + b.z};
  std::int64_t square = 0;
  for (const std::int32_t s : sum) square += static_cast<std::int64_t>(s) * s;
  const double scale = direction_unit / sqrt(static_cast<double>(square));
  const auto rounded = [scale](std::int32_t s) {
    return static_cast<std::int32_t>(floor(fma(static_cast<double>(s), scale, 0.5)));
  };
  return {rounded(sum[0]), rounded(sum[1]), rounded(sum[2])};
}

/// Which halves of a streamline count.
enum class half_fate : std::uint8_t {
  reject,
  wait,  ///< passed some of the masks to include; counts if the other half passes the rest
  accept,
};

/// What happened on a half.
struct half_record {
  bool excluded = false;      ///< touched a mask to exclude
  bool out_of_order = false;  ///< passed a mask to include before one that precedes it
  bool other_region = false;  ///< reached another region than the seed's
  std::int32_t steps = 0;
  /// Masks to include passed so far, one bit each; with those of the first half unless each_half.
  std::uint32_t passed = 0;
};

VOXHERD_FUNCTION inline half_fate judge(const half_record& half, const walk_settings& how) {
  if (half.excluded || half.steps < how.min_steps) return half_fate::reject;
  if (how.connectome && !half.other_region) return half_fate::reject;
  if (how.includes == 0) return half_fate::accept;
  if (half.passed == 0 || (how.ordered && half.out_of_order)) return half_fate::reject;
  if (how.rule == include_rule::one) return half_fate::accept;
  const std::uint32_t every = (1u << how.includes) - 1;
  if (half.passed == every) return half_fate::accept;
  return how.each_half ? half_fate::reject : half_fate::wait;
}

/// Bit 0: the first half counts; bit 1: the second. A waiting first half counts if the second one is accepted; a second
/// one that still waits does not count.
VOXHERD_FUNCTION inline unsigned counted_halves(half_fate first, half_fate second) {
  const bool second_counts = second == half_fate::accept;
  const bool first_counts = first == half_fate::accept || (first == half_fate::wait && second_counts);
  return (first_counts ? 1u : 0u) | (second_counts ? 2u : 0u);
}

}  // namespace voxherd::track
