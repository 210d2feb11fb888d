#pragma once

#include <cmath>

#include "kernels/ballstick/fit_signal.hpp"
#include "kernels/portable/cholesky.hpp"

namespace voxherd::ballstick {

/// How a team sums the products of rows of N numbers: `type`, with clear(), add(row) and finish(team, packed), and
/// `shared_doubles` of the team's shared memory. Specialised in the file of each kind of team.
template <class Team, int N>
struct gram_of;

/// How a team solves N symmetric positive definite equations: solve(team, memory, matrix, right, x), true on success,
/// with matrix(i, j) and right(i) giving the elements and `shared_doubles` of the team's shared memory.
template <class Team, int N>
struct solver_of;

}  // namespace voxherd::ballstick

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

constexpr int max_iterations = 50;
/// The fit has converged if a step lowers the sum of squares by less than this fraction: with 300 measurements 0.015 in
/// the logarithm of the likelihood, far less than the change by a chain's first jumps.
constexpr double settled_decrease = 3e-5;
/// Rounding errors of the residuals per measurement, for signals near 1: data without noise.
constexpr double no_residual = 1e-20;

constexpr int max_bound_rounds = 4;

constexpr int tensor_row = 8;

template <class Shape>
constexpr int widest_row = Shape::row > tensor_row ? Shape::row : tensor_row;

/// Memory shared by a team's lanes.
template <class Team, class Shape>
struct scratch {
  double normal[2][packed_size(widest_row<Shape>)];
  double system[solver_of<Team, widest_row<Shape> - 1>::shared_doubles];
  double step[widest_row<Shape> - 1];
  double rows[gram_of<Team, widest_row<Shape>>::shared_doubles + 1];
  bool fixed[Shape::free];  ///< numbers held at their bound
  double fixed_step[Shape::free];
};

/// Levenberg-Marquardt with the damping scaled by the diagonal (Marquardt 1963), its size set from the gain ratio
/// (Nielsen, IMM-REP-1999-05), within bounds.
///
/// `Measurements`: load(slot, q, signal, weight), slots(), count().
/// In double: normal equations square the condition number, and the fit runs once per voxel.
template <class Team, class Shape, class Measurements, class Scratch>
class engine {
  using real = typename Team::real;
  static constexpr int n = Shape::free;

 public:
  VOXHERD_FUNCTION engine(const Team& team, const Measurements& m, double signal_scale, double ratio, Scratch& s)
      : team_(team), m_(m), signal_scale_(signal_scale), ratio_(ratio), s_(s) {}

  /// Moves `p` to a minimum; returns the sum of squares there, in units of signal_scale squared.
  VOXHERD_FUNCTION double minimise(point<Shape>& p) const {
    int now = 0;
    double sum = linearise(p, s_.normal[now]);
    double damping = 1e-2, growth = 2;
    for (int iteration = 0; iteration < max_iterations && sum > no_residual * m_.count(); ++iteration) {
      const bool solved = solve(p, s_.normal[now], damping);
      double step[n];
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) step[i] = s_.step[i];
      team_.sync();
      bool lower = false;
      if (solved) {
        const point<Shape> trial = moved(p, step);
        const double predicted = predicted_decrease(s_.normal[now], step);
        if (predicted >= 0 && predicted < settled_decrease * sum) break;
        const double trial_sum = linearise(trial, s_.normal[1 - now]);
        const double decrease = sum - trial_sum;
        lower = decrease > 0;
        if (lower) {
          p = trial;
          sum = trial_sum;
          now = 1 - now;
          if (decrease < settled_decrease * sum) break;
          const double gain = 2 * decrease / predicted - 1, shrink = 1 - gain * gain * gain;
          damping *= shrink > 1.0 / 3 ? shrink : 1.0 / 3;
          growth = 2;
        }
      }
      if (!lower) {
        damping *= growth;
        growth *= 2;
      }
    }
    return sum;
  }

 private:
  VOXHERD_FUNCTION double linearise(const point<Shape>& p, double* normal) const {
    typename gram_of<Team, Shape::row>::type gram(team_, s_.rows);
    gram.clear();
    for (int slot = 0; slot < m_.slots(); ++slot) {
      real q[3], signal, weight, row[Shape::row];
      m_.load(slot, q, signal, weight);
      fill_row<Shape>(p, ratio_, q, signal * real(1 / signal_scale_), weight, row);
      gram.add(row);
    }
    gram.finish(team_, normal);
    return normal[packed_index(n, n)];
  }

  /// Solves (H + damping diag H) step = J^T r in the scratch. Numbers that the step would move across a bound are set
  /// to the bound, and the others are solved for again.
  VOXHERD_FUNCTION bool solve(const point<Shape>& p, const double* normal, double damping) const {
    team_.share(n, [&](int i) { s_.fixed[i] = false; });
    const auto matrix = [&](int i, int j) {
      const double h = normal[i > j ? packed_index(i, j) : packed_index(j, i)];
      if (i != j) return s_.fixed[i] || s_.fixed[j] ? 0.0 : h;
      const double diagonal = h * (1 + damping);
      return s_.fixed[i] || !(diagonal > 0) ? 1.0 : diagonal;
    };
    const auto right = [&](int i) {
      if (s_.fixed[i]) return s_.fixed_step[i];
      double sum = normal[packed_index(n, i)];
      for (int j = 0; j < n; ++j) {
        if (s_.fixed[j]) sum -= normal[i > j ? packed_index(i, j) : packed_index(j, i)] * s_.fixed_step[j];
      }
      return sum;
    };
    for (int round = 0; round < max_bound_rounds; ++round) {
      team_.sync();
      if (!solver_of<Team, n>::solve(team_, s_.system, matrix, right, s_.step)) return false;
      if (!fix_at_bounds(p)) break;
    }
    return true;
  }

  VOXHERD_FUNCTION bool fix_at_bounds(const point<Shape>& p) const {
    bool any = false;
    VOXHERD_UNROLL
    for (int i = 0; i < Shape::rotations; ++i) {
      const double to_low = lower_bound<Shape>(i) - p.linear[i], to_high = upper_bound<Shape>(i) - p.linear[i];
      const double step = s_.step[i];
      if (s_.fixed[i] || (step >= to_low && step <= to_high)) continue;
      any = true;
      team_.once([&] { s_.fixed_step[i] = step < to_low ? to_low : to_high; });
    }
    team_.sync();
    VOXHERD_UNROLL
    for (int i = 0; i < Shape::rotations; ++i) {
      const double step = s_.step[i];
      const bool outside = step < lower_bound<Shape>(i) - p.linear[i] || step > upper_bound<Shape>(i) - p.linear[i];
      if (outside) team_.once([&] { s_.fixed[i] = true; });
    }
    return any;
  }

  /// Decrease of the sum of squares of the linearised signal.
  VOXHERD_FUNCTION static double predicted_decrease(const double* normal, const double (&step)[n]) {
    double decrease = 0;
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) {
      double curved = 0;
      VOXHERD_UNROLL
      for (int j = 0; j < i; ++j) curved += 2 * normal[packed_index(i, j)] * step[j];
      curved += normal[packed_index(i, i)] * step[i];
      decrease += step[i] * (2 * normal[packed_index(n, i)] - curved);
    }
    return decrease;
  }

  const Team& team_;
  const Measurements& m_;
  double signal_scale_, ratio_;
  Scratch& s_;
};

}  // namespace voxherd::ballstick::fitting
