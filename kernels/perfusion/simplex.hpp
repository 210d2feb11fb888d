#pragma once

#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/samples.hpp"

namespace voxherd::perfusion {

/// Nelder & Mead's simplex of Lagarias, Reeds, Wright & Wright (SIAM J Optim 9:112, 1998): rho 1, chi 2, gamma
/// and sigma 1/2, ties behind; fminsearch's first simplex (5 % more of each parameter in turn); ends when the costs of
/// the vertices differ by less than a tolerance (Wang & Cao: 1e-8), or after a number of iterations.
///
/// A state machine that needs one cost at a time: the next step is part of the state, so that lanes with different
/// steps evaluate the model together. Vertices are sorted by cost; a new one moves to its place by insertion.
template <class Number>
class simplex {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  using mask = typename lane::lane_traits<Number>::mask;
  using counter = typename counter_of<Number>::type;

  VOXHERD_FUNCTION explicit simplex(const fit_limits<scalar>& limits) : limits_(limits), n_(limits.free_count) {}

  /// Lanes of `fresh` begin at a start.
  VOXHERD_FUNCTION void begin(const mask& fresh, const Number (&start)[parameter_count]) {
    int free_before = 0;
    VOXHERD_UNROLL
    for (int i = 0; i < parameter_count; ++i) {
      const Number more = first_step(start[i], i);
      VOXHERD_UNROLL
      for (int v = 0; v <= parameter_count; ++v) {
        const bool moved = !limits_.fixed[i] && v == free_before + 1;
        x_[v][i] = lane::select(fresh, moved ? more : start[i], x_[v][i]);
      }
      free_before += limits_.fixed[i] ? 0 : 1;
      trial_[i] = lane::select(fresh, start[i], trial_[i]);
    }
    VOXHERD_UNROLL
    for (int v = 0; v <= parameter_count; ++v)
      f_[v] = lane::select(fresh, Number(v <= n_ ? scalar(0) : no_vertex), f_[v]);
    action_ = choose(fresh, counter(fill), action_);
    vertex_ = choose(fresh, counter(0), vertex_);
    iterations_ = choose(fresh, counter(0), iterations_);
  }

  /// The point whose cost is needed next.
  VOXHERD_FUNCTION const Number (&trial() const)[parameter_count] { return trial_; }

  /// Evaluates the model there and continues; returns which lanes have ended.
  template <class Model>
  VOXHERD_FUNCTION mask advance(const Model& model, voxel_samples y) {
    return tell(model.cost(trial_, y));
  }

  /// Processes the trial's cost; returns which lanes have ended.
  VOXHERD_FUNCTION mask tell(Number cost) {
    cost = ordered(cost);
    const mask filling = action_ == counter(fill);
    mask complete(false);
    if (lane::any(filling)) complete = tell_fill(filling, cost);
    const mask next_iteration = tell_step(!filling, cost) || complete;
    const mask ended = next_iteration && (spread_is_small() || iterations_ >= counter(limits_.max_iterations));
    action_ = choose(next_iteration, counter(reflect), action_);
    const mask moving = !(action_ == counter(fill));
    point(moving, reach_of_action(), trial_);
    if (lane::any(!moving)) propose_vertex(!moving);
    return ended;
  }

  /// For a lane that has ended: the best vertex.
  VOXHERD_FUNCTION const Number (&best() const)[parameter_count] { return x_[0]; }
  VOXHERD_FUNCTION Number best_cost() const { return f_[0]; }
  VOXHERD_FUNCTION Number worst_cost() const { return row(f_, n_); }
  VOXHERD_FUNCTION counter iterations() const { return iterations_; }
  VOXHERD_FUNCTION mask converged() const { return spread_is_small(); }

 private:
  /// Cost of entries after the last vertex: never smaller than another.
  static constexpr scalar no_vertex = scalar(2e30);

  enum step : int { fill, reflect, expand, contract_outside, contract_inside };

  /// The step is that of fminsearch; its direction is the opposite one if the bound is near.
  VOXHERD_FUNCTION Number first_step(Number at, int i) const {
    const Number zero(scalar(0));
    Number more = lane::select(at == zero, Number(scalar(0.00025)), scalar(1.05) * at);
    if (limits_.bounded) more = lane::select(more > Number(limits_.most[i]), scalar(0.95) * at, more);
    return more;
  }

  VOXHERD_FUNCTION mask spread_is_small() const {
    const Number spread = row(f_, n_) - f_[0];
    return spread < Number(limits_.absolute_tolerance) || spread < limits_.relative_tolerance * f_[0];
  }

  /// A vertex's cost in the first simplex or after a shrink. Returns which lanes now have all costs.
  VOXHERD_FUNCTION mask tell_fill(const mask& filling, Number cost) {
    VOXHERD_UNROLL
    for (int v = 0; v <= parameter_count; ++v) f_[v] = lane::select(filling && vertex_ == counter(v), cost, f_[v]);
    vertex_ = choose(filling, vertex_ + counter(1), vertex_);
    const mask full = filling && vertex_ > counter(n_);
    if (lane::any(full)) {
      VOXHERD_UNROLL_BY(1)
      for (int pass = 0; pass < n_; ++pass) settle(full);
    }
    return full;
  }

  /// Moves the last vertex before those of greater cost (after equal ones). Calling it once per vertex sorts all of
  /// them.
  VOXHERD_FUNCTION void settle(const mask& which) {
    VOXHERD_UNROLL
    for (int v = parameter_count; v >= 1; --v) {
      const mask smaller = which && f_[v] < f_[v - 1];
      swap(smaller, f_[v], f_[v - 1]);
      VOXHERD_UNROLL
      for (int i = 0; i < parameter_count; ++i) swap(smaller, x_[v][i], x_[v - 1][i]);
    }
  }

  VOXHERD_FUNCTION static void swap(const mask& which, Number& a, Number& b) {
    const Number old = a;
    a = lane::select(which, b, a);
    b = lane::select(which, old, b);
  }

  /// The cost of a reflected, expanded or contracted point. Returns which lanes end their iteration.
  VOXHERD_FUNCTION mask tell_step(const mask& stepping, Number cost) {
    const Number best = f_[0], second_worst = row(f_, n_ - 1), worst = row(f_, n_);
    const mask reflected = stepping && action_ == counter(reflect);
    const mask expanded = stepping && action_ == counter(expand);
    const mask outside = stepping && action_ == counter(contract_outside);
    const mask inside = stepping && action_ == counter(contract_inside);

    const mask to_expand = reflected && cost < best;
    const mask to_inside = reflected && !(cost < worst);
    const mask to_outside = reflected && !(cost < second_worst) && !to_inside;
    const mask take_trial = (reflected && !to_expand && !to_inside && !to_outside) || (expanded && cost < reflected_) ||
                            (outside && !(cost > reflected_)) || (inside && cost < worst);
    const mask take_reflected = expanded && !(cost < reflected_);
    const mask to_shrink = (outside || inside) && !take_trial;

    reflected_ = lane::select(reflected, cost, reflected_);
    if (lane::any(take_reflected)) point(take_reflected, Number(scalar(1)), trial_);
    const mask accepted = take_trial || take_reflected;
    accept(accepted, lane::select(take_reflected, reflected_, cost));
    if (lane::any(to_shrink)) shrink(to_shrink);
    action_ = choose(to_expand, counter(expand), action_);
    action_ = choose(to_outside, counter(contract_outside), action_);
    action_ = choose(to_inside, counter(contract_inside), action_);
    iterations_ = choose(accepted || to_shrink, iterations_ + counter(1), iterations_);
    return accepted;
  }

  VOXHERD_FUNCTION void accept(const mask& which, Number cost) {
    if (!lane::any(which)) return;
    replace<1>(which, cost);
    replace<2>(which, cost);
    replace<3>(which, cost);
    replace<4>(which, cost);
    replace<5>(which, cost);
    settle(which);
  }

  /// Replaces the worst vertex by the trial, if it is number v. Not a loop: compilers turn one into an array access
  /// with a run-time index, and GPU registers cannot be indexed.
  template <int V>
  VOXHERD_FUNCTION void replace(const mask& which, Number cost) {
    const mask here = which && mask(V == n_);
    f_[V] = lane::select(here, cost, f_[V]);
    VOXHERD_UNROLL
    for (int i = 0; i < parameter_count; ++i) x_[V][i] = lane::select(here, trial_[i], x_[V][i]);
  }

  VOXHERD_FUNCTION void shrink(const mask& which) {
    VOXHERD_UNROLL
    for (int v = 1; v <= parameter_count; ++v) {
      VOXHERD_UNROLL
      for (int i = 0; i < parameter_count; ++i)
        x_[v][i] = lane::select(which, x_[0][i] + (x_[v][i] - x_[0][i]) * scalar(0.5), x_[v][i]);
    }
    action_ = choose(which, counter(fill), action_);
    vertex_ = choose(which, counter(1), vertex_);
  }

  VOXHERD_FUNCTION void propose_vertex(const mask& which) {
    VOXHERD_UNROLL
    for (int v = 0; v <= parameter_count; ++v) {
      const mask here = which && vertex_ == counter(v);
      VOXHERD_UNROLL
      for (int i = 0; i < parameter_count; ++i) trial_[i] = lane::select(here, x_[v][i], trial_[i]);
    }
  }

  VOXHERD_FUNCTION Number reach_of_action() const {
    Number reach(scalar(1));
    reach = lane::select(mask(action_ == counter(expand)), Number(scalar(2)), reach);
    reach = lane::select(mask(action_ == counter(contract_outside)), Number(scalar(0.5)), reach);
    return lane::select(mask(action_ == counter(contract_inside)), Number(scalar(-0.5)), reach);
  }

  /// The centre of all vertices but the worst, plus `reach` times the vector from the worst to it.
  VOXHERD_FUNCTION void point(const mask& which, Number reach, Number (&to)[parameter_count]) const {
    Number p[parameter_count];
    const Number more = scalar(1) + reach;
    VOXHERD_UNROLL
    for (int i = 0; i < parameter_count; ++i) {
      const Number none(scalar(0));
      Number sum = x_[0][i];
      sum += n_ > 1 ? x_[1][i] : none;
      sum += n_ > 2 ? x_[2][i] : none;
      sum += n_ > 3 ? x_[3][i] : none;
      sum += n_ > 4 ? x_[4][i] : none;
      const Number worst = pick(n_, x_[0][i], x_[1][i], x_[2][i], x_[3][i], x_[4][i], x_[5][i]);
      p[i] = more * (sum / scalar(n_)) - reach * worst;
    }
    limits_.confine(p);
    VOXHERD_UNROLL
    for (int i = 0; i < parameter_count; ++i) to[i] = lane::select(which, p[i], to[i]);
  }

  /// See replace().
  VOXHERD_FUNCTION static Number pick(int at, Number a, Number b, Number c, Number d, Number e, Number f) {
    return at == 5 ? f : at == 4 ? e : at == 3 ? d : at == 2 ? c : at == 1 ? b : a;
  }
  VOXHERD_FUNCTION static Number row(const Number (&f)[parameter_count + 1], int at) {
    return pick(at, f[0], f[1], f[2], f[3], f[4], f[5]);
  }

  const fit_limits<scalar>& limits_;
  int n_;  ///< free parameters; vertices 0 to n_
  Number x_[parameter_count + 1][parameter_count] = {};
  Number f_[parameter_count + 1] = {};
  Number trial_[parameter_count] = {};
  Number reflected_{};  ///< cost of the reflected point, while another is tried
  counter action_{}, vertex_{}, iterations_{};
};

}  // namespace voxherd::perfusion
