#pragma once

#include <cmath>

#include "kernels/ballstick/fit_signal.hpp"
#include "kernels/portable/cholesky.hpp"

namespace voxherd::ballstick::fitting {

/// Bounds of the fit: inside the sampler's support, and above zero, where a fibre would have no direction to
/// improve and a proposal no size. Amplitudes as parts of the voxel's largest signal.
constexpr double min_amplitude = 1e-3;
constexpr double min_d = 0.01, max_d = 4.999;  // um2/ms
constexpr double min_scale = 1e-3;             // um2/ms
/// Tangent of a fibre's largest rotation in one step: the linear model hardly limits the angles of a weak fibre.
constexpr double max_turn = 0.5;

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

/// A fibre's unit vector, which has no poles, and two tangents that it turns along.
struct orientation {
  double along[3], u[3], v[3];
};

/// The current point of the fit.
template <class Shape>
struct point {
  double linear[Shape::rotations];  ///< amplitudes, d, scale
  orientation fibre[Shape::fibres];
};

/// The axis along (x, y, z); tangents by Duff et al., JCGT 6(1), 2017.
VOXHERD_FUNCTION inline orientation oriented(double x, double y, double z) {
  const double inverse = 1 / std::sqrt(x * x + y * y + z * z);
  x *= inverse;
  y *= inverse;
  z *= inverse;
  const double sign = z < 0 ? -1.0 : 1.0, a = -1 / (sign + z), b = x * y * a;
  return {{x, y, z}, {1 + sign * x * x * a, sign * b, -sign * x}, {b, sign + y * y * a, -y}};
}

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
    const orientation& o = from.fibre[k];
    double &turn_u = step[Shape::rotations + 2 * k], &turn_v = step[Shape::rotations + 2 * k + 1];
    const double turn = std::sqrt(turn_u * turn_u + turn_v * turn_v);
    const double part = turn > max_turn ? max_turn / turn : 1;
    turn_u *= part;
    turn_v *= part;
    to.fibre[k] =
        oriented(o.along[0] + turn_u * o.u[0] + turn_v * o.v[0], o.along[1] + turn_u * o.u[1] + turn_v * o.v[1],
                 o.along[2] + turn_u * o.u[2] + turn_v * o.v[2]);
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

}  // namespace voxherd::ballstick::fitting
