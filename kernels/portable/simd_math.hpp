#pragma once

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <experimental/simd>

#include "kernels/portable/function.hpp"

namespace voxherd::lane {

namespace stdx = std::experimental;

using float_lanes = stdx::native_simd<float>;
using word_lanes = stdx::rebind_simd_t<std::uint32_t, float_lanes>;
using int_lanes = stdx::rebind_simd_t<std::int32_t, float_lanes>;
using double_lanes = stdx::native_simd<double>;
using long_lanes = stdx::rebind_simd_t<std::int64_t, double_lanes>;

VOXHERD_INLINED float_lanes fma(float_lanes a, float_lanes b, float_lanes c) { return a * b + c; }
VOXHERD_INLINED float_lanes max(float_lanes a, float_lanes b) { return stdx::max(a, b); }
VOXHERD_INLINED float_lanes min(float_lanes a, float_lanes b) { return stdx::min(a, b); }
VOXHERD_INLINED float_lanes reciprocal(float_lanes x) { return 1.0f / x; }
VOXHERD_INLINED float_lanes sqrt(float_lanes x) { return stdx::sqrt(x); }
VOXHERD_INLINED float_lanes floor(float_lanes x) { return stdx::floor(x); }
VOXHERD_INLINED float_lanes abs(float_lanes x) { return stdx::abs(x); }

VOXHERD_INLINED float_lanes select(const float_lanes::mask_type& condition, float_lanes a, float_lanes b) {
  stdx::where(condition, b) = a;
  return b;
}

VOXHERD_INLINED word_lanes select(const word_lanes::mask_type& condition, word_lanes a, word_lanes b) {
  stdx::where(condition, b) = a;
  return b;
}
VOXHERD_INLINED float_lanes select(const word_lanes::mask_type& condition, float_lanes a, float_lanes b) {
  return std::bit_cast<float_lanes>(select(condition, std::bit_cast<word_lanes>(a), std::bit_cast<word_lanes>(b)));
}

/// Bit i: whether the condition holds in lane i.
template <class T, class Abi>
VOXHERD_INLINED std::uint64_t bits(const stdx::simd_mask<T, Abi>& condition) {
  constexpr int lanes = static_cast<int>(stdx::simd_mask<T, Abi>::size());
  if constexpr (lanes == 16 && sizeof(condition) == sizeof(std::uint16_t))
    return std::bit_cast<std::uint16_t>(condition);
  std::uint64_t b = 0;
  for (int i = 0; i < lanes; ++i) b |= std::uint64_t{condition[static_cast<std::size_t>(i)]} << i;
  return b;
}

VOXHERD_INLINED bool any(const word_lanes::mask_type& condition) { return stdx::any_of(condition); }
VOXHERD_INLINED bool any(const float_lanes::mask_type& condition) { return stdx::any_of(condition); }

/// 2^x for x <= 126, relative error 1e-7; 0 below -126. Adding 1.5 * 2^23 leaves round(x) in the low bits.
VOXHERD_INLINED float_lanes exp2(float_lanes x) {
  constexpr float shift = 12582912.0f;
  const float_lanes clipped = max(x, float_lanes(-127.0f));
  const float_lanes shifted = clipped + shift;
  const float_lanes f = clipped - (shifted - shift);  // in [-1/2, 1/2]
  // minimax polynomial of 2^f
  float_lanes p = 1.32764566e-3f;
  p = fma(p, f, 9.67554121e-3f);
  p = fma(p, f, 5.55071332e-2f);
  p = fma(p, f, 2.40221197e-1f);
  p = fma(p, f, 6.93146967e-1f);
  p = fma(p, f, 1.00000007f);
  const auto bits = std::bit_cast<int_lanes>(p) + (std::bit_cast<int_lanes>(shifted) << 23);
  return select(x < -126.0f, float_lanes(0.0f), std::bit_cast<float_lanes>(bits));
}

/// log2 of positive normal x, absolute error 2e-7 near 1, relative elsewhere.
VOXHERD_INLINED float_lanes log2(float_lanes x) {
  const auto bits = std::bit_cast<int_lanes>(x);
  const int_lanes exponent = (bits - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
  const float_lanes m = std::bit_cast<float_lanes>(bits - (exponent << 23));
  const float_lanes t = (m - 1.0f) / (m + 1.0f);
  const float_lanes w = t * t;
  // 2 atanh(t) / ln 2 = t * (c0 + c1 w + ...)
  float_lanes p = 0.32059890f;
  p = fma(p, w, 0.41219858f);
  p = fma(p, w, 0.57707802f);
  p = fma(p, w, 0.96179669f);
  p = fma(p, w, 2.88539008f);
  return fma(p, t, stdx::static_simd_cast<float_lanes>(exponent));
}

/// values[places[0] + step], values[places[1] + step], ... for one register; stdx has no gather.
VOXHERD_INLINED float_lanes gather(const float* values, const std::int32_t* places, int step = 0) {
#if defined(__AVX512F__)
  if constexpr (float_lanes::size() == 16)
    return float_lanes(
        _mm512_i32gather_ps(_mm512_add_epi32(_mm512_loadu_si512(places), _mm512_set1_epi32(step)), values, 4));
#elif defined(__AVX2__)
  if constexpr (float_lanes::size() == 8)
    return float_lanes(_mm256_i32gather_ps(
        values, _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)), _mm256_set1_epi32(step)),
        4));
#endif
  return float_lanes([&](auto i) { return values[places[i] + step]; });
}

VOXHERD_INLINED double_lanes gather(const double* values, const std::int32_t* places, int step = 0) {
#if defined(__AVX512F__)
  if constexpr (double_lanes::size() == 8)
    return double_lanes(
        _mm512_i32gather_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)), values + step, 8));
#elif defined(__AVX2__)
  if constexpr (double_lanes::size() == 4)
    return double_lanes(
        _mm256_i32gather_pd(values + step, _mm_loadu_si128(reinterpret_cast<const __m128i*>(places)), 8));
#endif
  return double_lanes([&](auto i) { return values[places[i] + step]; });
}

/// values[places[0]], values[places[1]], ...; places below 2^31.
VOXHERD_INLINED float_lanes gather(const float* values, word_lanes places) {
#if defined(__AVX512F__)
  if constexpr (float_lanes::size() == 16)
    return float_lanes(_mm512_i32gather_ps(std::bit_cast<__m512i>(places), values, 4));
#elif defined(__AVX2__)
  if constexpr (float_lanes::size() == 8)
    return float_lanes(_mm256_i32gather_ps(values, std::bit_cast<__m256i>(places), 4));
#endif
  return float_lanes([&](auto i) { return values[places[i]]; });
}
VOXHERD_INLINED word_lanes gather(const std::uint32_t* values, word_lanes places) {
#if defined(__AVX512F__)
  if constexpr (word_lanes::size() == 16)
    return std::bit_cast<word_lanes>(_mm512_i32gather_epi32(std::bit_cast<__m512i>(places), values, 4));
#elif defined(__AVX2__)
  if constexpr (word_lanes::size() == 8)
    return std::bit_cast<word_lanes>(
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(values), std::bit_cast<__m256i>(places), 4));
#endif
  return word_lanes([&](auto i) { return values[places[i]]; });
}

/// gather() from 32 values, of which the places' lowest five bits choose: two registers, which it permutes.
VOXHERD_INLINED word_lanes gather_of_32(const std::uint32_t* values, word_lanes places) {
#if defined(__AVX512F__)
  if constexpr (word_lanes::size() == 16)
    return std::bit_cast<word_lanes>(_mm512_permutex2var_epi32(
        _mm512_loadu_si512(values), std::bit_cast<__m512i>(places), _mm512_loadu_si512(values + 16)));
#endif
  return gather(values, places & 31u);
}

/// gather() from 64 values, of which the places' lowest six bits choose: four registers, which it permutes.
VOXHERD_INLINED float_lanes gather_of_64(const float* values, word_lanes places) {
#if defined(__AVX512F__)
  if constexpr (float_lanes::size() == 16) {
    const auto at = std::bit_cast<__m512i>(places);
    const __m512 low = _mm512_permutex2var_ps(_mm512_loadu_ps(values), at, _mm512_loadu_ps(values + 16)),
                 high = _mm512_permutex2var_ps(_mm512_loadu_ps(values + 32), at, _mm512_loadu_ps(values + 48));
    return float_lanes(_mm512_mask_blend_ps(_mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), low, high));
  }
#endif
  return gather(values, places & 63u);
}

/// How many neighbouring values gather_near() can reach; 0: it is gather().
#if defined(__AVX512F__)
template <class Lanes>
inline constexpr int near_places = sizeof(Lanes) == 64 ? 2 * static_cast<int>(Lanes::size()) : 0;
#else
template <class Lanes>
inline constexpr int near_places = 0;
#endif

/// gather() for places from 0 up to near_places - 1. Reads all these values: two registers, which it permutes.
VOXHERD_INLINED float_lanes gather_near(const float* values, const std::int32_t* places) {
#if defined(__AVX512F__)
  if constexpr (near_places<float_lanes> != 0)
    return float_lanes(
        _mm512_permutex2var_ps(_mm512_loadu_ps(values), _mm512_loadu_si512(places), _mm512_loadu_ps(values + 16)));
#endif
  return gather(values, places);
}

VOXHERD_INLINED double_lanes gather_near(const double* values, const std::int32_t* places) {
#if defined(__AVX512F__)
  if constexpr (near_places<double_lanes> != 0) {
    const __m512i wide = _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)));
    return double_lanes(_mm512_permutex2var_pd(_mm512_loadu_pd(values), wide, _mm512_loadu_pd(values + 8)));
  }
#endif
  return gather(values, places);
}

}  // namespace voxherd::lane
