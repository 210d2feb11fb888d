#pragma once

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "kernels/portable/simd_math.hpp"

namespace voxherd::lane {

/// values[places[0] + step], values[places[1] + step], ... for one register; stdx has no gather.
inline float_lanes gather(const float* values, const std::int32_t* places, int step = 0) {
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

inline double_lanes gather(const double* values, const std::int32_t* places, int step = 0) {
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

}  // namespace voxherd::lane
