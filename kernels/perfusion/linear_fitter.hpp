#pragma once

#include <cstdint>
#include <vector>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::perfusion {

/// Input of every voxel's linear fit, per frame.
struct linear_view {
  const double* integral[max_inputs];  ///< of each delayed input up to the frame, its unit x s
  const double* time_s;                ///< since the first frame
  const std::uint8_t* counts;          ///< 1: fitted
  int frames;
};

/// The numbers of a linear_view, in host memory: the delays are the same for all voxels, so the inputs are
/// integrated once, exactly (they are linear between frames, see time_course).
class linear_table {
 public:
  /// One delay for each input.
  linear_table(const time_course& t, const std::vector<double>& delay_s);
  linear_view view() const { return view_of(values_.data(), counts_.data()); }
  /// The same numbers in another memory, copied there in the order of values() and counts().
  linear_view view_of(const double* values, const std::uint8_t* counts) const;
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint8_t>& counts() const { return counts_; }

 private:
  std::vector<double> values_;  ///< inputs, times
  std::size_t inputs_;
  std::vector<std::uint8_t> counts_;
};

/// The delays of a washout model at which the linear fit is made.
template <class Tissue>
std::vector<double> given_delays(const fit_settings& s) {
  std::vector<double> delay_s;
  for (int i = 0; i < Tissue::inputs; ++i) delay_s.push_back(s.rules[static_cast<std::size_t>(Tissue::delay(i))].start);
  return delay_s;
}

template <class Tissue, class Number>
struct linear_fit {
  Number p[Tissue::count];  ///< 1/s and s; flows 0 where degenerate
  Number sum_of_squares;    ///< sum of squares of the equation's residuals, not of the curve's
  typename lane::lane_traits<Number>::mask degenerate;  ///< the columns are linearly dependent (or not finite)
};

/// Murase's linear least squares (Magn Reson Med 51:858, 2004) for washout models: over the fitted frames,
///   C_i = sum over the inputs of flow int c(s - delay) ds - rate int C(s) ds, up to t_i,
/// C by the trapezoid rule through fitted frames, starting with 0 at frame 0. No start and no iteration; the noise of
/// C in its own integral reduces rate and flows (dual model, 48 frames, contrast to noise 10: the rate and
/// the portal flow by 3 %, the arterial flow not; at 30 by 1 %).
///
/// Unbounded, the solution is not changed: flows may be negative if the data say so. Bounded, it is the minimum
/// within the bounds, which is not the free solution clipped. Fixed parameters keep their start value in both.
///
/// Number: double or lane::double_lanes. In float, the squares of the nearly parallel columns leave no digit.
template <class Tissue, class Number>
class linear_fitter {
 public:
  using fit = linear_fit<Tissue, Number>;
  using mask = typename lane::lane_traits<Number>::mask;

  linear_fitter(const linear_view& view, const fit_settings& s) : view_(view), bounded_(s.bounded) {
    for (int i = 0; i < inputs; ++i) delay_[i] = s.rules[static_cast<std::size_t>(Tissue::delay(i))].start;
    for (int i = 0; i < unknowns; ++i) {
      const parameter_rule& rule = s.rules[static_cast<std::size_t>(i)];
      fixed_[i] = rule.fixed;
      min_[i] = rule.fixed ? rule.start : rule.least;
      most_[i] = rule.fixed ? rule.start : rule.most;
    }
  }

  VOXHERD_FUNCTION fit operator()(voxel_samples y) const {
    normal_numbers n;
    gather(y, n);
    fit found;
    Number x[unknowns];
    found.degenerate = !solve(n, state_of_all(loose), x);
    if (bounded_ && lane::any(outside(x))) search_bounds(n, x);
    for (int i = 0; i < unknowns; ++i) found.p[i] = lane::select(found.degenerate, Number(0.0), x[i]);
    for (int i = 0; i < inputs; ++i) found.p[Tissue::delay(i)] = delay_[i];
    found.sum_of_squares = residuals(y, found.p);
    return found;
  }

 private:
  static constexpr int inputs = Tissue::inputs, unknowns = 1 + inputs;  ///< rate and flows, the first parameters
  static constexpr int bound_choices = inputs == 1 ? 9 : 27;
  /// Below this fraction, the squared rest of a column after removing the earlier columns counts as zero.
  static constexpr double min_independence = 1e-12;

  enum bound_state { loose, at_least, at_most };
  struct states {
    bound_state of[unknowns];
  };

  struct normal_numbers {
    Number matrix[packed_size(unknowns)], right[unknowns];
  };

  /// Calls use(columns, C_i) for the fitted frames.
  template <class Use>
  VOXHERD_FUNCTION void each_frame(voxel_samples y, Use&& use) const {
    Number sum(0.0), before(0.0);
    double time_s = view_.time_s[0];
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      const Number c = load(y.first + i * y.stride, Number(0.0));
      sum += (view_.time_s[i] - time_s) * 0.5 * (before + c);
      before = c;
      time_s = view_.time_s[i];
      Number column[unknowns] = {-sum};
      for (int n = 0; n < inputs; ++n) column[1 + n] = Number(view_.integral[n][i]);
      use(column, c);
    }
  }

  VOXHERD_FUNCTION void gather(voxel_samples y, normal_numbers& n) const {
    for (Number& m : n.matrix) m = 0.0;
    for (Number& r : n.right) r = 0.0;
    each_frame(y, [&](const Number(&column)[unknowns], const Number& c) {
      for (int a = 0; a < unknowns; ++a) {
        n.right[a] += column[a] * c;
        for (int b = 0; b <= a; ++b) n.matrix[packed_index(a, b)] += column[a] * column[b];
      }
    });
  }

  VOXHERD_FUNCTION Number residuals(voxel_samples y, const Number (&p)[Tissue::count]) const {
    Number sum(0.0);
    each_frame(y, [&](const Number(&column)[unknowns], const Number& c) {
      Number rest = c;
      for (int a = 0; a < unknowns; ++a) rest -= column[a] * p[a];
      sum += rest * rest;
    });
    return sum;
  }

  VOXHERD_FUNCTION static Number element(const normal_numbers& n, int a, int b) {
    return n.matrix[a >= b ? packed_index(a, b) : packed_index(b, a)];
  }

  VOXHERD_FUNCTION states state_of_all(bound_state wanted) const {
    states s;
    for (int i = 0; i < unknowns; ++i) s.of[i] = fixed_[i] ? at_least : wanted;
    return s;
  }

  /// Least squares over the free unknowns, the others at their bounds. False if the columns are linearly dependent.
  VOXHERD_FUNCTION mask solve(const normal_numbers& n, const states& s, Number (&x)[unknowns]) const {
    Number a[packed_size(unknowns)], diagonal[unknowns];
    for (int i = 0; i < unknowns; ++i) {
      const bool held = s.of[i] != loose;
      x[i] = held ? Number(s.of[i] == at_least ? min_[i] : most_[i]) : n.right[i];
      for (int j = 0; j < unknowns; ++j) {
        const bool other_held = s.of[j] != loose;
        if (!held && other_held) x[i] -= element(n, i, j) * (s.of[j] == at_least ? min_[j] : most_[j]);
        if (j <= i) a[packed_index(i, j)] = held || other_held ? Number(i == j ? 1.0 : 0.0) : element(n, i, j);
      }
      diagonal[i] = a[packed_index(i, i)];
    }
    mask good = cholesky_factor_lanes<unknowns, mask>(a);
    for (int i = 0; i < unknowns; ++i) {
      const Number inverse = a[packed_index(i, i)];
      good = good && inverse * inverse * diagonal[i] * min_independence < 1.0;
    }
    cholesky_solve<unknowns>(a, x);
    return good;
  }

  VOXHERD_FUNCTION mask outside(const Number (&x)[unknowns]) const {
    mask any(false);
    for (int i = 0; i < unknowns; ++i) any = any || x[i] < min_[i] || x[i] > most_[i];
    return any;
  }

  /// The minimum over all choices of unknowns held at bounds that keep the others within theirs.
  VOXHERD_FUNCTION void search_bounds(const normal_numbers& n, Number (&best)[unknowns]) const {
    const mask wanted = outside(best);
    Number min_cost(1e300);
    for (int code = 1; code < bound_choices; ++code) {
      states s;
      for (int i = 0, left = code; i < unknowns; ++i, left /= 3) s.of[i] = static_cast<bound_state>(left % 3);
      bool known = true;
      for (int i = 0; i < unknowns; ++i) known = known && (!fixed_[i] || s.of[i] == at_least);
      if (!known) continue;
      Number x[unknowns];
      const mask solved = solve(n, s, x);
      const Number cost = cost_of(n, x);
      const mask better = wanted && solved && !outside(x) && cost < min_cost;
      min_cost = lane::select(better, cost, min_cost);
      for (int i = 0; i < unknowns; ++i) best[i] = lane::select(better, x[i], best[i]);
    }
  }

  /// Sum of squares less that of C, for comparisons.
  VOXHERD_FUNCTION static Number cost_of(const normal_numbers& n, const Number (&x)[unknowns]) {
    Number cost(0.0);
    for (int i = 0; i < unknowns; ++i) {
      Number slope = -2.0 * n.right[i];
      for (int j = 0; j < unknowns; ++j) slope += element(n, i, j) * x[j];
      cost += slope * x[i];
    }
    return cost;
  }

  linear_view view_;
  bool bounded_;
  double delay_[inputs];  ///< s
  bool fixed_[unknowns];
  double min_[unknowns], most_[unknowns];  ///< 1/s
};

/// Stores lane l's linear fit as the result of its voxel's only item; without a solution, the voxel is `singular`.
template <class Tissue, class Number>
VOXHERD_FUNCTION inline void keep_linear_fit(const linear_fit<Tissue, Number>& fit, int l, const fit_arrays& a,
                                             std::size_t voxel) {
  for (int i = 0; i < Tissue::count; ++i) a.p[static_cast<std::size_t>(i) * a.count + voxel] = lane::get(fit.p[i], l);
  a.cost[voxel] = lane::get(fit.sum_of_squares, l);
  a.iterations[voxel] = 1;
  a.exit_code[voxel] = static_cast<std::uint8_t>(fit_exit::converged);
  if (lane::get(fit.degenerate, l) && a.status[voxel] == 0)
    a.status[voxel] = static_cast<std::uint8_t>(voxel_status::singular);
}

}  // namespace voxherd::perfusion
