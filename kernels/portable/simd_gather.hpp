#pragma once

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "kernels/portable/simd_math.hpp"

namespace voxherd::lane {

/// values[places[0]], values[places[1]], ... for as many as a register holds. stdx has no gather of its own.
inline float_lanes gather(const float* values, const std::int32_t* places) {
#if defined(__AVX512F__)
  if constexpr (float_lanes::size() == 16)
    return float_lanes(_mm512_i32gather_ps(_mm512_loadu_si512(places), values, 4));
#elif defined(__AVX2__)
  if constexpr (float_lanes::size() == 8)
    return float_lanes(_mm256_i32gather_ps(values, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)), 4));
#endif
  return float_lanes([&](auto i) { return values[places[i]]; });
}

}  // namespace voxherd::lane
