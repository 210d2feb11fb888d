#pragma once

#include "kernels/portable/lanes.hpp"

namespace voxherd::perfusion {

VOXHERD_FUNCTION inline double decay(double x) { return lane::exp(-x); }
VOXHERD_FUNCTION inline float decay(float x) { return lane::exp2(-1.44269504f * x); }
#if !defined(__CUDACC__)
inline lane::double_lanes decay(lane::double_lanes x) { return lane::exp(-x); }
inline lane::float_lanes decay(lane::float_lanes x) { return lane::exp2(-1.44269504f * x); }
#endif

/// The phi functions of exponential integrators (Hochbruck & Ostermann, Acta Numerica 19:209, 2010) at -x:
///   one = (1 - e^-x) / x, two = (1 - one) / x, three = (1/2 - two) / x,
/// so that the integral of e^{-k (s - v)} over [0, s] is s one(k s), that of v e^{-k (s - v)} is s^2 two(k s).
/// Derivatives: one' = two - one, two' = 2 three - two.
template <class Number>
struct phi_functions {
  Number decayed;  ///< e^-x
  Number one, two, three;
};

/// Relative error 1e-15 in double, 3e-7 in float. Up to |x| = 1 the power series of `three` gives the others without
/// cancellation, exponential or division. Several x together: their series are independent chains.
template <class Number, int Count>
VOXHERD_FUNCTION inline void find_phi(const Number (&x)[Count], phi_functions<Number> (&to)[Count]) {
  using scalar = typename lane::lane_traits<Number>::scalar;
  constexpr int terms = sizeof(scalar) == sizeof(double) ? 16 : 9;
  // sum (-x)^n / (n + 3)! as nested fractions: 1/(n+3)! = 1/(n+2)! / (n+3)
  constexpr scalar inverse_factorial[16] = {scalar(1. / 6),
                                            scalar(1. / 24),
                                            scalar(1. / 120),
                                            scalar(1. / 720),
                                            scalar(1. / 5040),
                                            scalar(1. / 40320),
                                            scalar(1. / 362880),
                                            scalar(1. / 3628800),
                                            scalar(1. / 39916800),
                                            scalar(1. / 479001600),
                                            scalar(1. / 6227020800),
                                            scalar(1. / 87178291200),
                                            scalar(1. / 1307674368e3),
                                            scalar(1. / 20922789888e3),
                                            scalar(1. / 355687428096e3),
                                            scalar(1. / 6402373705728e3)};
  Number sum[Count];
  VOXHERD_UNROLL
  for (Number& three : sum) three = Number(inverse_factorial[terms - 1]);
  VOXHERD_UNROLL
  for (int n = terms - 2; n >= 0; --n) {
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) sum[i] = inverse_factorial[n] - x[i] * sum[i];
  }
  VOXHERD_UNROLL
  for (int i = 0; i < Count; ++i) {
    phi_functions<Number>& f = to[i];
    f.three = sum[i];
    f.two = scalar(0.5) - x[i] * f.three;
    f.one = scalar(1) - x[i] * f.two;
    f.decayed = scalar(1) - x[i] * f.one;
  }
  VOXHERD_UNROLL
  for (int i = 0; i < Count; ++i) {
    const auto large = x[i] > scalar(1) || x[i] < scalar(-1);
    if (!lane::any(large)) continue;
    phi_functions<Number>& f = to[i];
    const Number inverse = scalar(1) / x[i];
    const Number e = decay(x[i]), one = (scalar(1) - e) * inverse, two = (scalar(1) - one) * inverse;
    f.decayed = lane::select(large, e, f.decayed);
    f.one = lane::select(large, one, f.one);
    f.two = lane::select(large, two, f.two);
    f.three = lane::select(large, (scalar(0.5) - two) * inverse, f.three);
  }
}

template <class Number>
VOXHERD_FUNCTION inline phi_functions<Number> phi(Number x) {
  phi_functions<Number> f[1];
  find_phi({x}, f);
  return f[0];
}

}  // namespace voxherd::perfusion
