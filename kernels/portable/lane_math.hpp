#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"

/// Float functions for one value. On the GPU they use the special-function unit: error 2 ulp or 2^-22 absolute,
/// whichever is larger; on the CPU libm. Overloads for several values are in simd_math.hpp.
namespace voxherd::lane {

/// 2^x; 0 below -126.
VOXHERD_FUNCTION inline float exp2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return x < -126.0f ? 0.0f : std::exp2(x);
#endif
}

VOXHERD_FUNCTION inline float log2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::log2(x);
#endif
}

VOXHERD_FUNCTION inline float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}

VOXHERD_FUNCTION inline float sqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::sqrt(x);
#endif
}

/// Sine and cosine of an angle in [-pi, pi].
VOXHERD_FUNCTION inline void sincos(float x, float& sine, float& cosine) {
#if defined(__CUDA_ARCH__)
  sine = __sinf(x);
  cosine = __cosf(x);
#else
  sine = std::sin(x);
  cosine = std::cos(x);
#endif
}

VOXHERD_FUNCTION inline float fma(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

VOXHERD_FUNCTION inline float floor(float x) { return floorf(x); }
VOXHERD_FUNCTION inline float abs(float x) { return fabsf(x); }
VOXHERD_FUNCTION inline float round(float x) { return rintf(x); }
VOXHERD_FUNCTION inline float max(float a, float b) { return a > b ? a : b; }
VOXHERD_FUNCTION inline float min(float a, float b) { return a < b ? a : b; }
VOXHERD_FUNCTION inline float select(bool condition, float a, float b) { return condition ? a : b; }
/// Whether the condition holds in any lane; used to skip work that no lane needs.
VOXHERD_FUNCTION inline bool any(bool condition) { return condition; }

}  // namespace voxherd::lane

// Templates below call these names qualified, so every overload must be declared before them.
#if !defined(__CUDACC__)
#include "kernels/portable/simd_math.hpp"
#endif
