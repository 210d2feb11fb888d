#pragma once

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/function.hpp"

namespace voxherd::voxel_model {

/// I1(z) / I0(z) and log(I0(z) exp(-z)) for z >= 0.
template <class Real>
struct bessel {
  Real ratio, log_scaled;
};

namespace detail {
template <class Real, int N>
VOXHERD_FUNCTION inline Real horner(const double (&c)[N], Real x) {
  Real sum(c[0]);
  VOXHERD_UNROLL
  for (int i = 1; i < N; ++i) sum = sum * x + Real(c[i]);
  return sum;
}
}  // namespace detail

/// By Abramowitz & Stegun 9.8.1 to 9.8.4, error 2e-7.
template <class Real>
VOXHERD_FUNCTION inline bessel<Real> bessel_of(Real z) {
  constexpr double small0[] = {0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0};
  constexpr double small1[] = {0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5};
  constexpr double large0[] = {0.00392377,  -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                               -0.00157565, 0.00225319,  0.01328592, 0.39894228};
  constexpr double large1[] = {-0.00420059, 0.01787654,  -0.02895312, 0.02282967, -0.01031555,
                               0.00163801,  -0.00362018, -0.03988024, 0.39894228};
  const Real t = lane::min(z, Real(3.75)) * Real(1 / 3.75);
  const Real w = t * t;
  const Real small = detail::horner(small0, w);
  const Real safe = lane::max(z, Real(3.75));
  const Real inverse = Real(3.75) / safe;
  const Real large = detail::horner(large0, inverse);
  const auto is_large = z > Real(3.75);
  bessel<Real> result;
  result.ratio = lane::select(is_large, detail::horner(large1, inverse) / large,
                              lane::min(z, Real(3.75)) * detail::horner(small1, w) / small);
  result.log_scaled = lane::select(is_large, lane::log(large) - Real(0.5) * lane::log(safe), lane::log(small) - z);
  return result;
}

/// One measurement's part of the fit by maximum likelihood under Rician noise. The residual is that of expectation
/// maximisation: in place of the measured signal, the expected part of it along the true one.
template <class Real>
struct rician_term {
  Real residual;
  Real curvature;  ///< of the cost, relative to that of a squared residual; at least 0.05
  Real cost;       ///< (y - S)^2 - 2 sigma^2 log(I0(z) exp(-z)), z = y S / sigma^2
  Real spread;     ///< y^2 + S^2 - 2 y S I1/I0: its mean is twice the variance
};

template <class Real>
VOXHERD_FUNCTION inline rician_term<Real> rician_term_of(Real measured, Real predicted, double variance) {
  const Real z = lane::max(measured * predicted * Real(1 / variance), Real(1e-9));
  const bessel<Real> b = bessel_of(z);
  const Real difference = measured - predicted;
  rician_term<Real> term;
  term.residual = measured * b.ratio - predicted;
  term.curvature = lane::max(
      Real(1.0) - measured * measured * Real(1 / variance) * (Real(1.0) - b.ratio / z - b.ratio * b.ratio), Real(0.05));
  term.curvature = lane::min(term.curvature, Real(1.0));
  term.cost = difference * difference - Real(2 * variance) * b.log_scaled;
  term.spread = difference * difference + Real(2.0) * measured * predicted * (Real(1.0) - b.ratio);
  return term;
}

/// Maximum likelihood under Rician noise, from the least-squares fit `p` with this sum of `squares`. If the variance is
/// unknown, it is estimated between minimisations, unbiased as for Gaussian noise.
template <class Minimiser, class Problem>
VOXHERD_FUNCTION inline double minimise_rician(const Minimiser& minimiser, Problem& problem, typename Problem::point& p,
                                               double known_variance, double squares, int count) {
  constexpr int max_rounds = 12;
  constexpr double settled_variance = 1e-3, smallest = 1e-12;
  // A step of expectation maximisation goes half of the way where the signal is high, and all of it in the noise: twice
  // the step times this converges fast in both.
  constexpr double part_of_step = 0.65;
  const double unbiased = static_cast<double>(count) / (count - Problem::free);
  double variance = known_variance > 0 ? known_variance : squares / (count - Problem::free);
  for (int round = 0; round < max_rounds; ++round) {
    variance = variance > smallest ? variance : smallest;
    problem.set_variance(variance);
    minimiser.minimise(p);
    if (known_variance > 0 || variance <= smallest) break;
    minimiser.evaluate(p);
    const double whole = unbiased * (2 * problem.expected_variance() - variance) - variance;
    const double next = variance + part_of_step * whole;
    const bool settled = std::fabs(next - variance) < settled_variance * variance;
    variance = next > variance / 4 ? next : variance / 4;
    if (settled) break;
  }
  return variance;
}

}  // namespace voxherd::voxel_model
