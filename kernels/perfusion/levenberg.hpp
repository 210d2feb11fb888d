#pragma once

#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/model.hpp"

namespace voxherd::perfusion {

/// Levenberg-Marquardt least squares within bounds. A parameter does not move while it is fixed, while it is at a
/// bound and the gradient points outwards, and while the curve does not depend on it (the delay of a flow of 0).
///
/// A state machine like `simplex`: it needs the equations of one point at a time. A step that increases the cost is
/// tried again at a quarter of its length (its direction is downhill), so that the last good point's equations need not
/// be kept; only then damping grows. FlowsAreBest: the flows have the smallest cost at each trial (varpro.hpp); they
/// follow a step of the others without damping.
template <class Tissue, class Number, bool FlowsAreBest = false>
class levenberg {
 public:
  static constexpr int count = parameter_count<Tissue>;
  using scalar = typename lane::lane_traits<Number>::scalar;
  using mask = typename lane::lane_traits<Number>::mask;
  using counter = typename counter_of<Number>::type;

  static constexpr int begin_at_part = 4;  ///< a GPU's lanes wait until a quarter of them can begin together

  VOXHERD_FUNCTION explicit levenberg(const fit_limits<scalar, count>& limits) : limits_(limits) {}

  /// Lanes of `fresh` begin at a start.
  VOXHERD_FUNCTION void begin(const mask& fresh, const Number (&start)[count]) {
    Number from[count];
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) from[i] = start[i];
    limits_.settle(from);
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) {
      best_[i] = lane::select(fresh, from[i], best_[i]);
      step_[i] = lane::select(fresh, Number(scalar(0)), step_[i]);
    }
    cost_ = lane::select(fresh, Number(scalar(1e30)), cost_);
    damping_ = lane::select(fresh, Number(first_damping), damping_);
    iterations_ = choose(fresh, counter(0), iterations_);
    retries_ = choose(fresh, counter(0), retries_);
  }

  /// Evaluates the model at the next point and continues; returns which lanes have ended.
  template <class Model>
  VOXHERD_FUNCTION mask advance(const Model& model, voxel_samples y) {
    Number trial[count];
    next_trial(trial);
    normal_equations<Tissue, Number> e;
    model.equations(trial, y, e);
    return tell(trial, e);
  }

  /// For a lane that has ended.
  VOXHERD_FUNCTION const Number (&best() const)[count] { return best_; }
  VOXHERD_FUNCTION Number best_cost() const { return cost_; }
  VOXHERD_FUNCTION counter iterations() const { return iterations_; }
  VOXHERD_FUNCTION mask converged() const { return iterations_ < counter(limits_.max_iterations); }

 protected:
  /// The point whose equations are needed next.
  VOXHERD_FUNCTION void next_trial(Number (&trial)[count]) const {
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) trial[i] = best_[i] + step_[i];
    limits_.settle(trial);
  }

  /// Processes the equations there; returns which lanes have ended.
  VOXHERD_FUNCTION mask tell(const Number (&trial)[count], normal_equations<Tissue, Number>& e) {
    const Number cost = ordered(e.cost);
    const mask better = cost < cost_;
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) {
      best_[i] = lane::select(better, trial[i], best_[i]);
      step_[i] = lane::select(better, step_[i], step_[i] * scalar(0.25));
    }
    cost_ = lane::select(better, cost, cost_);
    damping_ = lane::select(better, lane::max(damping_ * scalar(0.1), Number(min_damping)), damping_ * scalar(4));
    iterations_ = iterations_ + counter(1);
    retries_ = choose(better, counter(0), retries_ + counter(1));
    const mask settled = step_from(better, e);
    return settled || retries_ > counter(max_retries) || iterations_ >= counter(limits_.max_iterations);
  }

  const fit_limits<scalar, count>& limits_;

 private:
  static constexpr scalar first_damping = scalar(1e-3);
  static constexpr scalar min_damping = sizeof(scalar) == sizeof(double) ? scalar(1e-10) : scalar(1e-6);
  static constexpr int max_retries = 8;

  /// Which parameters may move, as 1 or 0.
  VOXHERD_FUNCTION void find_movable(const normal_equations<Tissue, Number>& e, Number (&moves)[count]) const {
    const Number none(scalar(0)), one(scalar(1));
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) {
      if (limits_.fixed[i]) {
        moves[i] = none;
        continue;
      }
      const Number down = e.gradient[i];
      mask held = !(e.hessian[packed_index(i, i)] > none);
      if (limits_.bounded)
        held = held || (!(best_[i] > Number(limits_.least[i])) && !(down > none)) ||
               (!(best_[i] < Number(limits_.most[i])) && !(down < none));
      moves[i] = lane::select(held, none, one);
    }
  }

  /// A new step for lanes whose point is new. Returns which lanes have converged: their step, predicted to reduce the
  /// cost by less than the tolerance, is taken without evaluation.
  VOXHERD_FUNCTION mask step_from(const mask& fresh, normal_equations<Tissue, Number>& e) {
    Number moves[count], step[count];
    find_movable(e, moves);
    constexpr parameter_facts<Tissue> facts;
    const Number one(scalar(1)), stretch = one + damping_;
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) {
      VOXHERD_UNROLL
      for (int j = 0; j < i; ++j) e.hessian[packed_index(i, j)] *= moves[i] * moves[j];
      Number& own = e.hessian[packed_index(i, i)];
      const bool damped = !FlowsAreBest || !facts.is_flow[i];
      own = (damped ? own * stretch : own) * moves[i] + (one - moves[i]);
      step[i] = e.gradient[i] * moves[i];
    }
    const mask good = cholesky_factor_lanes<count, mask>(e.hessian);
    solve(e.hessian, step);
    Number fall(scalar(0));
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) fall += step[i] * e.gradient[i] * moves[i];
    const mask usable = fresh && good && fall < Number(scalar(1e30));
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) step_[i] = lane::select(usable, step[i], step_[i]);
    const mask settled = usable && !(fall > limits_.relative_tolerance * cost_);
    if (lane::any(settled)) take_step(settled);
    return settled || (fresh && !usable);
  }

  /// Not a part of its caller on a CPU: GCC would decide by the number of callers, and fused multiply-adds, thus the
  /// last bits, would change with it.
#if !defined(__CUDACC__)
  [[gnu::noinline]]
#endif
  VOXHERD_FUNCTION static void
  solve(const Number (&factor)[packed_size(count)], Number (&x)[count]) {
    cholesky_solve<count>(factor, x);
  }

  VOXHERD_FUNCTION void take_step(const mask& which) {
    Number p[count];
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) p[i] = best_[i] + step_[i];
    limits_.settle(p);
    VOXHERD_UNROLL
    for (int i = 0; i < count; ++i) best_[i] = lane::select(which, p[i], best_[i]);
  }

  Number best_[count] = {}, step_[count] = {};
  Number cost_{}, damping_{};
  counter iterations_{}, retries_{};
};

}  // namespace voxherd::perfusion
