#pragma once

#include <cmath>

#include "kernels/ballstick/fit_signal.hpp"
#include "kernels/voxel_model/minimiser.hpp"
#include "kernels/voxel_model/orientation.hpp"

namespace voxherd::ballstick::fitting {

using voxel_model::orientation;
using voxel_model::oriented;
using voxel_model::turned;

/// Bounds of the fit: inside the sampler's support, and above zero, where a fibre would have no direction to
/// improve and a proposal no size. Amplitudes as parts of the voxel's largest signal.
constexpr double min_amplitude = 1e-3;
constexpr double min_d = 0.01, max_d = 4.999;  // um2/ms
constexpr double min_scale = 1e-3;             // um2/ms
/// With d <= 5 and scale <= max_scale, d_std = sqrt(d scale) stays below the prior's limit, 10 or 4 um2/ms.
template <diffusion_model Model>
constexpr double max_scale = Model == diffusion_model::zeppelin ? 3.199 : 19.99;

/// The free numbers of a fit and their order: amplitudes of ball, sticks and f0 (S0 times fraction: the signal is
/// linear in them, and non-negative amplitudes are non-negative fractions with a sum of 1), d, the Gamma distribution's
/// scale, and two rotations per fibre.
template <diffusion_model Model, int Fibres, bool Unattenuated>
struct shape {
  static constexpr diffusion_model model = Model;
  static constexpr int fibres = Fibres;
  static constexpr bool unattenuated = Unattenuated;
  static constexpr bool has_scale = Model != diffusion_model::mono_exponential;
  static constexpr int ball = 0, sticks = 1, still = 1 + Fibres;
  static constexpr int amplitudes = 1 + Fibres + (Unattenuated ? 1 : 0);
  static constexpr int d = amplitudes, scale = amplitudes + 1;
  static constexpr int rotations = amplitudes + (has_scale ? 2 : 1);
  static constexpr int free = rotations + 2 * Fibres;
  /// A row of the normal equations holds the derivatives by the free numbers and the residual.
  static constexpr int row = free + 1;
};

/// The current point of the fit.
template <class Shape>
struct point {
  double linear[Shape::rotations];  ///< amplitudes, d, scale
  orientation fibre[Shape::fibres];
};

template <class Shape>
VOXHERD_FUNCTION inline double lower_bound(int i) {
  return i < Shape::amplitudes ? min_amplitude : i == Shape::d ? min_d : min_scale;
}

template <class Shape>
VOXHERD_FUNCTION inline double upper_bound(int i) {
  return i < Shape::amplitudes ? 1e6 : i == Shape::d ? max_d : max_scale<Shape::model>;
}

/// `from` moved by `step`, within the bounds; `step` is replaced by the part that was taken.
template <class Shape>
VOXHERD_FUNCTION inline point<Shape> moved(const point<Shape>& from, double* step) {
  point<Shape> to;
  VOXHERD_UNROLL
  for (int i = 0; i < Shape::rotations; ++i) {
    const double low = lower_bound<Shape>(i), high = upper_bound<Shape>(i);
    const double wanted = from.linear[i] + step[i];
    to.linear[i] = wanted < low ? low : wanted > high ? high : wanted;
    step[i] = to.linear[i] - from.linear[i];
  }
  VOXHERD_UNROLL
  for (int k = 0; k < Shape::fibres; ++k) {
    to.fibre[k] = turned(from.fibre[k], step[Shape::rotations + 2 * k], step[Shape::rotations + 2 * k + 1]);
  }
  return to;
}

/// One measurement's row: derivatives of its signal by the free numbers, then measured less predicted.
/// q: gradient direction times sqrt(b); `weight` is 0 for padding after the last measurement.
template <class Shape, class Real>
VOXHERD_FUNCTION inline void fill_row(const point<Shape>& p, double ratio, const Real (&q)[3], Real measured,
                                      Real weight, Real (&row)[Shape::row]) {
  const double d = p.linear[Shape::d], scale = Shape::has_scale ? p.linear[Shape::rotations - 1] : 0;
  const Real b = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
  const attenuation<Real> ball = ball_attenuation<Shape::model>(b, d, scale);
  const double amplitude = p.linear[Shape::ball];
  row[Shape::ball] = ball.value * weight;
  row[Shape::d] = ball.by_d * Real(amplitude);
  if constexpr (Shape::has_scale) row[Shape::scale] = ball.by_scale * Real(amplitude);
  Real predicted = ball.value * Real(amplitude);
  VOXHERD_UNROLL
  for (int k = 0; k < Shape::fibres; ++k) {
    const orientation& o = p.fibre[k];
    const auto product = [&](const double(&n)[3]) { return q[0] * Real(n[0]) + q[1] * Real(n[1]) + q[2] * Real(n[2]); };
    const Real t = product(o.along);
    const double f = p.linear[Shape::sticks + k];
    const attenuation<Real> stick = stick_attenuation<Shape::model>(t * t, b, d, scale, ratio);
    row[Shape::sticks + k] = stick.value * weight;
    row[Shape::d] += stick.by_d * Real(f);
    if constexpr (Shape::has_scale) row[Shape::scale] += stick.by_scale * Real(f);
    predicted += stick.value * Real(f);
    const Real turn = stick.by_x * Real(2 * f) * t * weight;
    row[Shape::rotations + 2 * k] = turn * product(o.u);
    row[Shape::rotations + 2 * k + 1] = turn * product(o.v);
  }
  if constexpr (Shape::unattenuated) {
    row[Shape::still] = weight;
    predicted += Real(p.linear[Shape::still]);
  }
  row[Shape::d] *= weight;
  if constexpr (Shape::has_scale) row[Shape::scale] *= weight;
  row[Shape::free] = (measured - predicted) * weight;
}

constexpr int max_iterations = 50;
/// The fit has converged if a step lowers the sum of squares by less than this fraction: with 300 measurements 0.015 in
/// the logarithm of the likelihood, far less than the change by a chain's first jumps.
constexpr double settled_decrease = 3e-5;
/// Rounding errors of the residuals per measurement, for signals near 1: data without noise.
constexpr double no_residual = 1e-20;

template <class Team, class Shape>
using scratch = voxel_model::fit_scratch<Team, Shape::free>;

/// The least squares of one voxel, for the minimiser. Signals in units of `signal_scale`.
/// `Measurements`: load(slot, q, signal, weight), slots(), count().
template <class Team, class Shape, class Measurements>
class problem {
  using real = typename Team::real;

 public:
  using point = fitting::point<Shape>;
  static constexpr int free = Shape::free;
  static constexpr int bounded = Shape::rotations;
  static constexpr double settled_decrease = fitting::settled_decrease;
  static constexpr int max_iterations = fitting::max_iterations;

  VOXHERD_FUNCTION problem(const Measurements& m, double signal_scale, double ratio)
      : m_(m), signal_scale_(signal_scale), ratio_(ratio) {}

  VOXHERD_FUNCTION void begin(const point&) const {}
  VOXHERD_FUNCTION int slots() const { return m_.slots(); }
  VOXHERD_FUNCTION void fill_row(const point& p, int slot, real (&row)[free + 1]) const {
    real q[3], signal, weight;
    m_.load(slot, q, signal, weight);
    fitting::fill_row<Shape>(p, ratio_, q, signal * real(1 / signal_scale_), weight, row);
  }
  VOXHERD_FUNCTION double cost(double sum) const { return sum; }
  VOXHERD_FUNCTION double negligible_sum() const { return no_residual * m_.count(); }
  VOXHERD_FUNCTION double lower_bound(int i) const { return fitting::lower_bound<Shape>(i); }
  VOXHERD_FUNCTION double upper_bound(int i) const { return fitting::upper_bound<Shape>(i); }
  VOXHERD_FUNCTION point moved(const point& p, double* step) const { return fitting::moved<Shape>(p, step); }

 private:
  const Measurements& m_;
  double signal_scale_, ratio_;
};

}  // namespace voxherd::ballstick::fitting
