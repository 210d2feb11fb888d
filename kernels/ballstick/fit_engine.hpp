#pragma once

#include "kernels/ballstick/fit_point.hpp"
#include "kernels/ballstick/gram.hpp"

namespace voxherd::ballstick::fitting {

constexpr int most_iterations = 50;
/// The fit has settled where a step lowers the sum of squares by less than this part.
constexpr double settled_decrease = 1e-7;
/// Residuals at rounding, per measurement, for signals near 1: data without noise.
constexpr double no_residual = 1e-20;

constexpr int most_bound_rounds = 4;

constexpr int tensor_row = 8;

template <class Shape>
constexpr int widest_row = Shape::row > tensor_row ? Shape::row : tensor_row;

/// What a team's lanes share.
template <class Team, class Shape>
struct scratch {
  double normal[2][packed_size(widest_row<Shape>)];
  double factor[packed_size(widest_row<Shape> - 1)];
  double step[widest_row<Shape> - 1];
  double rows[gram_of<Team, widest_row<Shape>>::shared_doubles + 1];
  bool solved;
};

/// Levenberg-Marquardt with the damping scaled by the diagonal (Marquardt 1963), its size ruled by the gain ratio
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
    for (int iteration = 0; iteration < most_iterations && sum > no_residual * m_.count(); ++iteration) {
      team_.once([&] { s_.solved = solve(p, s_.normal[now], damping); });
      team_.sync();
      const bool solved = s_.solved;
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

  /// One lane's work: (H + damping diag H) step = J^T r into the scratch. Numbers that the step would carry over a
  /// bound go to the bound, and the others are solved for again.
  VOXHERD_FUNCTION bool solve(const point<Shape>& p, const double* normal, double damping) const {
    auto& factor = *reinterpret_cast<double(*)[packed_size(n)]>(s_.factor);
    auto& step = *reinterpret_cast<double(*)[n]>(s_.step);
    bool fixed[n] = {};
    double fixed_step[n] = {};
    for (int round = 0; round < most_bound_rounds; ++round) {
      set_up(normal, damping, fixed, fixed_step, factor, step);
      if (!cholesky_factor<n>(factor)) return false;
      cholesky_solve<n>(factor, step);
      if (!fix_at_bounds(p, step, fixed, fixed_step)) break;
    }
    return true;
  }

  VOXHERD_FUNCTION static void set_up(const double* normal, double damping, const bool (&fixed)[n],
                                      const double (&fixed_step)[n], double (&factor)[packed_size(n)],
                                      double (&right)[n]) {
    for (int i = 0; i < n; ++i) right[i] = fixed[i] ? fixed_step[i] : normal[packed_index(n, i)];
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const double h = normal[packed_index(i, j)];
        factor[packed_index(i, j)] = fixed[i] || fixed[j] ? 0 : h;
        if (fixed[j] && !fixed[i]) right[i] -= h * fixed_step[j];
        if (fixed[i] && !fixed[j]) right[j] -= h * fixed_step[i];
      }
      const double diagonal = normal[packed_index(i, i)] * (1 + damping);
      factor[packed_index(i, i)] = fixed[i] || !(diagonal > 0) ? 1 : diagonal;
    }
  }

  VOXHERD_FUNCTION static bool fix_at_bounds(const point<Shape>& p, const double (&step)[n], bool (&fixed)[n],
                                             double (&fixed_step)[n]) {
    bool any = false;
    VOXHERD_UNROLL
    for (int i = 0; i < Shape::rotations; ++i) {
      const double to_low = lower_bound<Shape>(i) - p.linear[i], to_high = upper_bound<Shape>(i) - p.linear[i];
      if (fixed[i] || (step[i] >= to_low && step[i] <= to_high)) continue;
      fixed[i] = any = true;
      fixed_step[i] = step[i] < to_low ? to_low : to_high;
    }
    return any;
  }

  /// Of the sum of squares of the linearised signal.
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
