#pragma once

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/voxel_model/normal_equations.hpp"

namespace voxherd::voxel_model {

/// Row of the equations of a tensor, from which fits start.
constexpr int tensor_row = 8;

/// Memory shared by a team's lanes, for a fit of `Free` numbers.
template <class Team, int Free>
struct fit_scratch {
  static constexpr int widest_row = Free + 1 > tensor_row ? Free + 1 : tensor_row;

  double normal[2][packed_size(widest_row)];
  double system[solver_of<Team, widest_row - 1>::shared_doubles];
  double step[widest_row - 1];
  double rows[gram_of<Team, widest_row>::shared_doubles + 1];
  bool fixed[Free];  ///< numbers held at their bound
  double fixed_step[Free];
};

/// Levenberg-Marquardt with the damping scaled by the diagonal (Marquardt 1963), its size set from the gain ratio
/// (Nielsen, IMM-REP-1999-05), within bounds. In double: normal equations square the condition number, and the fit runs
/// once per voxel. A Problem has
///   free, bounded              numbers that are fitted, and how many of them, the first, have bounds
///   settled_decrease           the fit has converged if a step lowers the cost by less than this fraction
///   max_iterations
///   point                      the current values; the bounded ones are point.linear
///   begin(p)                   called by all lanes before the rows of a point
///   slots(), fill_row(p, slot, row)   one measurement's derivatives of its signal, then its residual
///   cost(sum)                  from the sum of squared residuals of the rows since begin()
///   negligible_sum()           rounding errors: data without noise
///   lower_bound(i), upper_bound(i)
///   moved(p, step)             within the bounds; `step` is replaced by the part that was taken
template <class Team, class Problem, class Scratch>
class minimiser {
  using real = typename Team::real;
  using point = typename Problem::point;
  static constexpr int n = Problem::free;
  static constexpr int max_bound_rounds = 4;

 public:
  VOXHERD_FUNCTION minimiser(const Team& team, const Problem& problem, Scratch& s)
      : team_(team), problem_(problem), s_(s) {}

  /// The cost of `p`; what the problem sums over its rows is then of `p`.
  VOXHERD_FUNCTION double evaluate(const point& p) const { return linearise(p, s_.normal[0]); }

  /// Moves `p` to a minimum; returns the cost there.
  VOXHERD_FUNCTION double minimise(point& p) const {
    int now = 0;
    double sum = linearise(p, s_.normal[now]);
    double damping = 1e-2, growth = 2;
    for (int iteration = 0; iteration < Problem::max_iterations && sum > problem_.negligible_sum(); ++iteration) {
      const bool solved = solve(p, s_.normal[now], damping);
      double step[n];
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) step[i] = s_.step[i];
      team_.sync();
      bool lower = false;
      if (solved) {
        const point trial = problem_.moved(p, step);
        const double predicted = predicted_decrease(s_.normal[now], step);
        if (predicted >= 0 && predicted < Problem::settled_decrease * sum) break;
        const double trial_sum = linearise(trial, s_.normal[1 - now]);
        const double decrease = sum - trial_sum;
        lower = decrease > 0;
        if (lower) {
          p = trial;
          sum = trial_sum;
          now = 1 - now;
          if (decrease < Problem::settled_decrease * sum) break;
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
  VOXHERD_FUNCTION double linearise(const point& p, double* normal) const {
    typename gram_of<Team, n + 1>::type gram(team_, s_.rows);
    gram.clear();
    problem_.begin(p);
    for (int slot = 0; slot < problem_.slots(); ++slot) {
      real row[n + 1];
      problem_.fill_row(p, slot, row);
      gram.add(row);
    }
    gram.finish(team_, normal);
    return problem_.cost(normal[packed_index(n, n)]);
  }

  /// Solves (H + damping diag H) step = J^T r in the scratch. Numbers that the step would move across a bound are set
  /// to the bound, and the others are solved for again.
  VOXHERD_FUNCTION bool solve(const point& p, const double* normal, double damping) const {
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

  VOXHERD_FUNCTION bool fix_at_bounds(const point& p) const {
    bool any = false;
    VOXHERD_UNROLL
    for (int i = 0; i < Problem::bounded; ++i) {
      const double to_low = problem_.lower_bound(i) - p.linear[i], to_high = problem_.upper_bound(i) - p.linear[i];
      const double step = s_.step[i];
      if (s_.fixed[i] || (step >= to_low && step <= to_high)) continue;
      any = true;
      team_.once([&] { s_.fixed_step[i] = step < to_low ? to_low : to_high; });
    }
    team_.sync();
    VOXHERD_UNROLL
    for (int i = 0; i < Problem::bounded; ++i) {
      const double step = s_.step[i];
      const bool outside = step < problem_.lower_bound(i) - p.linear[i] || step > problem_.upper_bound(i) - p.linear[i];
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
  const Problem& problem_;
  Scratch& s_;
};

}  // namespace voxherd::voxel_model
