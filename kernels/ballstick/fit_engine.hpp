#pragma once

#include "kernels/ballstick/fit_point.hpp"
#include "kernels/ballstick/normal_equations.hpp"

namespace voxherd::ballstick::fitting {

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
