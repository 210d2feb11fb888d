#pragma once

#include <limits>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/model_outputs.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::perfusion {

/// Statistics at the end of a fit: cost, standard deviations, which parameters are at a bound.
template <class Tissue, class Number>
struct judgement {
  Number sum_of_squares, total_squares;      ///< sum of squares of the residuals, and of the samples about their mean
  Number sd[parameter_count<Tissue>];        ///< 0: fixed, at a bound, or without influence
  Number at_bound[parameter_count<Tissue>];  ///< 1 or 0
  typename lane::lane_traits<Number>::mask singular;  ///< other flows fit as well
};

/// Computes them: sd = sqrt(diag (J'J)^-1 SSE / (frames - free parameters)) over the parameters that could move.
template <class Tissue, class Model, class Number>
class judge {
 public:
  static constexpr int count = parameter_count<Tissue>;
  using scalar = typename lane::lane_traits<Number>::scalar;
  using mask = typename lane::lane_traits<Number>::mask;

  VOXHERD_FUNCTION judge(const Model& model, const curves_view<scalar>& view, const fit_limits<scalar, count>& limits)
      : model_(model), view_(view), limits_(limits) {}

  VOXHERD_FUNCTION judgement<Tissue, Number> operator()(const Number (&p)[count], voxel_samples y) const {
    judgement<Tissue, Number> j;
    normal_equations<Tissue, Number> e;
    model_.equations(p, y, e);
    j.sum_of_squares = e.cost;
    j.total_squares = about_mean(y);
    Number moves[count], free[count], used(scalar(0));
    const Number none(scalar(0)), one(scalar(1));
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) {
      j.at_bound[i] = none;
      if (limits_.bounded && !limits_.fixed[i])
        j.at_bound[i] =
            lane::select(!(p[i] > Number(limits_.least[i])) || !(p[i] < Number(limits_.most[i])), one, none);
      free[i] = limits_.fixed[i] ? none : lane::select(e.hessian[packed_index(i, i)] > none, one, none);
      moves[i] = free[i] * (one - j.at_bound[i]);
      used += moves[i];
    }
    j.singular = are_inputs_dependent(free, p, e);
    const Number freedom = lane::max(static_cast<scalar>(view_.counted) - used, one);
    deviations(moves, e.cost / freedom, e, j);
    return j;
  }

 private:
  VOXHERD_FUNCTION Number about_mean(voxel_samples y) const {
    Number sum(scalar(0)), squares(scalar(0));
    for (int i = 0; i < view_.frames; ++i)
      if (view_.counts[i] != 0) sum += load(y.first + i * y.stride, Number(scalar(0)));
    const Number mean = sum / static_cast<scalar>(view_.counted);
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      const Number d = load(y.first + i * y.stride, Number(scalar(0))) - mean;
      squares += d * d;
    }
    return squares;
  }

  /// A column counts as dependent on another if its squared rest after removing that one is this small: rounding of
  /// sums.
  static constexpr scalar min_independence = 64 * std::numeric_limits<scalar>::epsilon();

  /// Whether one input's curve is a multiple of the other's: then many pairs of flows fit as well, also where one
  /// of them is at a bound. Not for rates below 0, where both curves grow exponentially.
  VOXHERD_FUNCTION static mask are_inputs_dependent(const Number (&free)[count], const Number (&p)[count],
                                                    const normal_equations<Tissue, Number>& e) {
    if constexpr (is_washout<Tissue> && Tissue::inputs == 2) {
      constexpr int one = Tissue::flow(0), other = Tissue::flow(1);
      const Number none(scalar(0)), shared = e.hessian[packed_index(other, one)];
      const Number correlation_squared =
          (shared / e.hessian[packed_index(one, one)]) * (shared / e.hessian[packed_index(other, other)]);
      return free[one] * free[other] > none && p[Tissue::rate] > none &&
             correlation_squared > Number(scalar(1) - min_independence);
    } else {
      return mask(false);
    }
  }

  VOXHERD_FUNCTION static void deviations(const Number (&moves)[count], Number variance,
                                          normal_equations<Tissue, Number>& e, judgement<Tissue, Number>& j) {
    const Number none(scalar(0)), one(scalar(1));
    VOXHERD_UNROLL
    for (int a = 0; a < count; ++a) {
      VOXHERD_UNROLL
      for (int b = 0; b < a; ++b) e.hessian[packed_index(a, b)] *= moves[a] * moves[b];
      Number& own = e.hessian[packed_index(a, a)];
      own = own * moves[a] + (one - moves[a]);
    }
    const mask good = cholesky_factor_lanes<count, mask>(e.hessian);
    VOXHERD_UNROLL
    for (int a = 0; a < count; ++a) {
      Number unit[count];
      VOXHERD_UNROLL
      for (int b = 0; b < count; ++b) unit[b] = a == b ? one : none;
      cholesky_solve<count>(e.hessian, unit);
      const Number squared = variance * unit[a] * moves[a];
      j.sd[a] = lane::select(good && squared > none, lane::sqrt(lane::max(squared, none)), none);
    }
  }

  const Model& model_;
  const curves_view<scalar>& view_;
  const fit_limits<scalar, count>& limits_;
};

/// The start whose fit has the smallest cost.
VOXHERD_FUNCTION inline int best_start(const fit_arrays& a, std::size_t voxel) {
  int best = 0;
  for (int s = 1; s < a.starts; ++s)
    if (a.cost[static_cast<std::size_t>(s) * a.count + voxel] <
        a.cost[static_cast<std::size_t>(best) * a.count + voxel])
      best = s;
  return best;
}

VOXHERD_FUNCTION inline std::size_t place_of_parameter(const fit_arrays& a, int start, int i, std::size_t voxel) {
  assert(start >= 0 && start < a.starts && i >= 0 && i < a.parameters && voxel < a.count);
  return static_cast<std::size_t>(start * a.parameters + i) * a.count + voxel;
}

template <class Tissue>
VOXHERD_FUNCTION inline void store_nothing(const output_arrays_of<Tissue>& out, std::size_t at, std::uint8_t status) {
  for (std::size_t m = 0; m < model_outputs<Tissue>::maps; ++m) out.put_float(m, at, 0);
  out.template put<"iterations">(at, 0);
  out.template put<"exit_code">(at, 0);
  out.template put<"at_bound">(at, 0);
  out.template put<"status">(at, status);
}

/// Statistics that do not depend on the result of the fit.
template <class Tissue>
VOXHERD_FUNCTION inline void store_facts(const fit_arrays& a, std::size_t voxel, const output_arrays_of<Tissue>& out,
                                         std::size_t at) {
  const std::size_t item = static_cast<std::size_t>(best_start(a, voxel)) * a.count + voxel;
  out.template put<"t1_before">(at, a.t1_s[voxel]);
  out.template put<"baseline_signal">(at, a.S0[voxel]);
  out.template put<"iterations">(at, a.iterations[item]);
  out.template put<"exit_code">(at, a.exit_code[item]);
  out.template put<"status">(at, 0);
}

/// Writes lane l's voxel to row `at` of a batch's outputs.
template <class Tissue, class Number>
VOXHERD_FUNCTION inline void store_fit(const Number (&p)[parameter_count<Tissue>], const judgement<Tissue, Number>& j,
                                       int l, const output_arrays_of<Tissue>& out, std::size_t at) {
  using table = model_outputs<Tissue>;
  constexpr parameter_facts<Tissue> facts;
  double value[parameter_count<Tissue>], derived[table::derived];
  unsigned bits = 0;
  VOXHERD_UNROLL
  for (int i = 0; i < parameter_count<Tissue>; ++i) {
    const auto place = static_cast<std::size_t>(i);
    value[i] = static_cast<double>(lane::get(p[i], l)) * facts.factor[i];
    out.put_float(place, at, static_cast<float>(value[i]));
    out.put_float(table::first_sd + place, at,
                  static_cast<float>(static_cast<double>(lane::get(j.sd[i], l)) * facts.factor[i]));
    if (lane::get(j.at_bound[i], l) != 0) bits |= 1u << i;
  }
  Tissue::derive(value, derived);
  VOXHERD_UNROLL
  for (std::size_t i = 0; i < table::derived; ++i)
    out.put_float(table::first_derived + i, at, static_cast<float>(derived[i]));
  const double left = lane::get(j.sum_of_squares, l), all = lane::get(j.total_squares, l);
  out.template put<"sum_of_squares">(at, left);
  out.template put<"r_squared">(at, all > 0 ? static_cast<float>(1 - left / all) : 0.0f);
  out.template put<"at_bound">(at, bits);
}

}  // namespace voxherd::perfusion
