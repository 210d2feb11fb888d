#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"

#if !defined(__CUDACC__)
#include "kernels/portable/simd_math.hpp"
#endif

/// Double functions for one value and, on the CPU, for a SIMD register.
namespace voxherd::lane {

VOXHERD_FUNCTION inline double exp(double x) { return ::exp(x); }
VOXHERD_FUNCTION inline double log(double x) { return ::log(x); }
VOXHERD_FUNCTION inline double sqrt(double x) { return ::sqrt(x); }
VOXHERD_FUNCTION inline double log1p(double x) { return ::log1p(x); }
VOXHERD_FUNCTION inline double floor(double x) { return ::floor(x); }
VOXHERD_FUNCTION inline double max(double a, double b) { return a > b ? a : b; }
VOXHERD_FUNCTION inline double min(double a, double b) { return a < b ? a : b; }
VOXHERD_FUNCTION inline double select(bool condition, double a, double b) { return condition ? a : b; }

#if !defined(__CUDACC__)
inline double_lanes max(double_lanes a, double_lanes b) { return stdx::max(a, b); }
inline double_lanes min(double_lanes a, double_lanes b) { return stdx::min(a, b); }
inline double_lanes sqrt(double_lanes x) { return stdx::sqrt(x); }
inline double_lanes floor(double_lanes x) { return stdx::floor(x); }
inline double_lanes select(const double_lanes::mask_type& condition, double_lanes a, double_lanes b) {
  stdx::where(condition, b) = a;
  return b;
}

/// e^x for x <= 700, relative error 1e-14; e^-700 below -700. Adding 1.5 * 2^52 leaves round(x / ln 2) in the low bits.
inline double_lanes exp(double_lanes x) {
  constexpr double shift = 6755399441055744.0;
  x = max(x, double_lanes(-700.0));
  const double_lanes shifted = x * 1.4426950408889634 + shift;
  const double_lanes k = shifted - shift;
  const double_lanes r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  // Taylor polynomial: |r| <= ln 2 / 2, so the remainder is r^12 / 12! = 6e-15.
  double_lanes p = 1.0 / 39916800;
  for (const double inverse_factorial : {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                         1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0, 1.0})
    p = p * r + inverse_factorial;
  return std::bit_cast<double_lanes>(std::bit_cast<long_lanes>(p) + (std::bit_cast<long_lanes>(shifted) << 52));
}

/// Natural logarithm of positive normal x, absolute error 2e-16 near 1, relative elsewhere.
inline double_lanes log(double_lanes x) {
  constexpr double shift = 6755399441055744.0;
  const auto bits = std::bit_cast<long_lanes>(x);
  const long_lanes exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;  // mantissa in [sqrt(1/2), sqrt(2))
  const double_lanes m = std::bit_cast<double_lanes>(bits - (exponent << 52));
  const double_lanes e = std::bit_cast<double_lanes>(exponent + std::bit_cast<std::int64_t>(shift)) - shift;
  const double_lanes t = (m - 1.0) / (m + 1.0);
  const double_lanes w = t * t;
  // 2 atanh(t); |t| <= 0.172 leaves w^10 / 21
  double_lanes p = 2.0 / 19;
  for (const double c : {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0})
    p = p * w + c;
  return p * t + e * 0.693147180559945309;
}

/// log(1 + y) for y >= 0; corrects the rounding of 1 + y to first order.
inline double_lanes log1p(double_lanes y) {
  const double_lanes u = 1.0 + y;
  return log(u) + (y - (u - 1.0)) / u;
}
#endif

}  // namespace voxherd::lane
