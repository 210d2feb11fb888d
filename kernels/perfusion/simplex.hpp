#pragma once

#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/portable/double_fma.hpp"

namespace voxherd::perfusion {

/// Moves the last number before those marked in `before`, which are the last of the others.
template <int Count, class Number, class Mask>
VOXHERD_INLINED void move_last(const Mask (&before)[Count], Number (&of)[Count + 1]) {
  const Number moved = of[Count];
  of[Count] = lane::select(before[Count - 1], of[Count - 1], moved);
  VOXHERD_UNROLL
  for (int v = Count - 1; v > 0; --v)
    of[v] = lane::select(before[v - 1], of[v - 1], lane::select(before[v], moved, of[v]));
  of[0] = lane::select(before[0], moved, of[0]);
}

/// The vertices of a simplex, sorted by cost, in registers.
template <class Number, int Count>
class register_vertices {
 public:
  static constexpr int worst = Count;  ///< number of the worst vertex
  using mask = typename lane::lane_traits<Number>::mask;

  /// Lanes of `fresh` get new vertices, by set().
  VOXHERD_INLINED void begin(const mask&) {}
  VOXHERD_INLINED const Number& at(int v, int i) const { return x_[i][v]; }
  VOXHERD_INLINED void set(const mask& which, int v, int i, const Number& value) {
    x_[i][v] = lane::select(which, value, x_[i][v]);
  }
  VOXHERD_INLINED void move_worst(const mask (&before)[worst]) {
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) move_last(before, x_[i]);
  }
  /// Reverses the order of vertex `first` and those after it.
  VOXHERD_INLINED void reverse(const mask& which, int first) {
    VOXHERD_UNROLL
    for (int a = 1; a < worst; ++a) {
      VOXHERD_UNROLL
      for (int b = a + 1; b <= worst; ++b) {
        if (a + b != first + worst) continue;
        VOXHERD_UNROLL
        for (int i = 0; i < Count; ++i) swap(which, x_[i][a], x_[i][b]);
      }
    }
  }

 private:
  VOXHERD_INLINED static void swap(const mask& which, Number& a, Number& b) {
    const Number old = a;
    a = lane::select(which, b, a);
    b = lane::select(which, old, b);
  }

  Number x_[Count][worst + 1] = {};
};

/// Nelder & Mead's simplex of Lagarias, Reeds, Wright & Wright (SIAM J Optim 9:112, 1998): rho 1, chi 2, gamma
/// and sigma 1/2, ties behind; fminsearch's first simplex (5 % more of each parameter in turn); ends when the costs of
/// the vertices differ by less than a tolerance (Wang & Cao: 1e-8), or after a number of iterations.
///
/// A state machine that needs one cost at a time: the next step is part of the state, so that lanes with different
/// steps evaluate the model together. Vertices are sorted by cost, and the last one is always the worst, whatever the
/// number of free parameters: with fewer of them the first entries are unused. A vertex without a cost is behind all
/// others: to evaluate it is to replace the worst vertex by itself. `Vertices` keeps them.
template <class Number, int Count, class Vertices = register_vertices<Number, Count>>
class simplex {
 public:
  static constexpr int count = Count;
  using scalar = typename lane::lane_traits<Number>::scalar;
  using mask = typename lane::lane_traits<Number>::mask;
  using counter = typename counter_of<Number>::type;

  /// A fit has hundreds of steps: a GPU's lane does not wait for others to begin together.
  static constexpr int begin_at_part = 32;

  VOXHERD_FUNCTION explicit simplex(const fit_limits<scalar, Count>& limits, const Vertices& vertices = {})
      : limits_(limits),
        x_(vertices),
        first_(Count - limits.free_count),
        part_(scalar(1) / scalar(limits.free_count)) {}

  /// Lanes of `fresh` begin at a start. It is evaluated first, then the vertices in the order of the parameters: equal
  /// costs keep that order.
  VOXHERD_FUNCTION void begin(const mask& fresh, const Number (&start)[Count]) {
    const Number none(scalar(0));
    x_.begin(fresh);
    int moved_at = worst;
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) {
      const Number more = first_step(start[i], i);
      moved_at -= limits_.fixed[i] ? 0 : 1;
      VOXHERD_UNROLL
      for (int v = 0; v <= worst; ++v) {
        const bool moved = !limits_.fixed[i] && v == moved_at;
        x_.set(fresh, v, i, v < first_ ? none : moved ? more : start[i]);
      }
      trial_[i] = lane::select(fresh, start[i], trial_[i]);
    }
    VOXHERD_UNROLL
    for (int v = 0; v <= worst; ++v) f_[v] = lane::select(fresh, Number(v < first_ ? unused : no_cost), f_[v]);
    action_ = choose(fresh, counter(fill), action_);
    iterations_ = choose(fresh, counter(0), iterations_);
  }

  /// The point whose cost is needed next.
  VOXHERD_FUNCTION const Number (&trial() const)[Count] { return trial_; }

  /// Evaluates the model there and continues; returns which lanes have ended.
  template <class Model>
  VOXHERD_FUNCTION mask advance(const Model& model, voxel_samples y) {
    return tell(model.cost(trial_, y));
  }

  /// Processes the trial's cost; returns which lanes have ended.
  VOXHERD_FUNCTION mask tell(Number cost) {
    cost = ordered(cost);
    const Number best = best_cost();
    const mask filling = action_ == counter(fill), reflected = action_ == counter(reflect);
    const mask expanded = action_ == counter(expand);
    const mask outside = action_ == counter(contract_outside), inside = action_ == counter(contract_inside);

    const mask to_expand = reflected && cost < best;
    const mask to_inside = reflected && !(cost < f_[worst]);
    const mask to_outside = reflected && !(cost < f_[worst - 1]) && !to_inside;
    const mask missed = expanded && !(cost < reflected_);  // the reflected point, already a vertex, is better
    const mask take_trial = filling || (reflected && !to_expand && !to_inside && !to_outside) ||
                            (expanded && !missed) || (outside && !(cost > reflected_)) || (inside && cost < f_[worst]);
    const mask accepted = take_trial || missed;
    const mask to_shrink = (outside || inside) && !take_trial;

    if (lane::any(accepted)) accept(accepted, take_trial, lane::select(missed, reflected_, cost));
    reflected_ = lane::select(reflected, cost, reflected_);
    if (lane::any(to_shrink)) shrink(to_shrink);
    iterations_ = choose((accepted && !filling) || to_shrink, iterations_ + counter(1), iterations_);
    const mask next_iteration = accepted && f_[worst] < Number(no_cost);
    const mask ended = next_iteration && (spread_is_small() || iterations_ >= counter(limits_.max_iterations));
    action_ = choose(next_iteration, counter(reflect), action_);
    action_ = choose(to_expand, counter(expand), action_);
    action_ = choose(to_outside, counter(contract_outside), action_);
    action_ = choose(to_inside, counter(contract_inside), action_);
    propose(to_expand);
    return ended;
  }

  /// For a lane that has ended: the best vertex.
  struct vertex {
    Number p[Count];
    VOXHERD_FUNCTION const Number& operator[](int i) const { return p[i]; }
  };
  VOXHERD_FUNCTION vertex best() const {
    vertex b;
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) b.p[i] = at_first([&](int v) VOXHERD_INLINED_LAMBDA { return x_.at(v, i); });
    return b;
  }
  VOXHERD_FUNCTION Number best_cost() const {
    return at_first([&](int v) VOXHERD_INLINED_LAMBDA { return f_[v]; });
  }
  VOXHERD_FUNCTION Number worst_cost() const { return f_[worst]; }
  VOXHERD_FUNCTION counter iterations() const { return iterations_; }
  VOXHERD_FUNCTION mask converged() const { return spread_is_small(); }

 private:
  static constexpr int worst = Vertices::worst;
  /// Costs of entries before the best vertex and of vertices not evaluated: beyond those of all others.
  static constexpr scalar unused = scalar(-2e30), no_cost = scalar(2e30);

  enum step : int { fill, reflect, expand, contract_outside, contract_inside };

  /// The step is that of fminsearch; its direction is the opposite one if the bound is near.
  VOXHERD_FUNCTION Number first_step(Number at, int i) const {
    const Number zero(scalar(0));
    Number more = lane::select(at == zero, Number(scalar(0.00025)), scalar(1.05) * at);
    if (limits_.bounded) more = lane::select(more > Number(limits_.most[i]), scalar(0.95) * at, more);
    return more;
  }

  VOXHERD_FUNCTION mask spread_is_small() const {
    const Number best = best_cost(), spread = f_[worst] - best;
    return spread < Number(limits_.absolute_tolerance) || spread < limits_.relative_tolerance * best;
  }

  /// The value of the best vertex, of those from V on: as nested choices, for which a GPU needs fewer registers than
  /// for a loop.
  template <int V>
  VOXHERD_INLINED Number chosen(const Number (&of)[worst + 1]) const {
    if constexpr (V == worst)
      return of[V];
    else
      return first_ == V ? of[V] : chosen<V + 1>(of);
  }
  /// The value of the best vertex. Not an array access with a run-time index: GPU registers cannot be indexed.
  template <class At>
  VOXHERD_INLINED Number at_first(const At& at) const {
    Number of[worst + 1];
    VOXHERD_UNROLL
    for (int v = 0; v <= worst; ++v) of[v] = at(v);
    if (first_ == 0) return of[0];
    return chosen<1>(of);
  }

  /// Replaces the worst vertex by the trial, or keeps its position, and moves it before those of greater cost (after
  /// equal ones).
  VOXHERD_FUNCTION void accept(const mask& which, const mask& take_trial, Number cost) {
    mask before[worst];  // which vertices it passes: the others are sorted, so all comparisons can be made at once
    VOXHERD_UNROLL
    for (int v = 0; v < worst; ++v) before[v] = which && cost < f_[v];
    f_[worst] = lane::select(which, cost, f_[worst]);
    move_last(before, f_);
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) x_.set(take_trial, worst, i, trial_[i]);
    x_.move_worst(before);
  }

  /// All vertices but the best move halfway to it and need costs, in the order in which they are sorted.
  VOXHERD_FUNCTION void shrink(const mask& which) {
    const vertex centre = best();
    VOXHERD_UNROLL
    for (int v = 1; v <= worst; ++v) {
      const mask moves = which && mask(v > first_);
      f_[v] = lane::select(moves, Number(no_cost), f_[v]);
      VOXHERD_UNROLL
      for (int i = 0; i < Count; ++i) x_.set(moves, v, i, centre[i] + (x_.at(v, i) - centre[i]) * scalar(0.5));
    }
    x_.reverse(which, first_ + 1);
    action_ = choose(which, counter(fill), action_);
  }

  VOXHERD_FUNCTION Number reach_of_action() const {
    Number reach(scalar(1));
    reach = lane::select(mask(action_ == counter(expand)), Number(scalar(2)), reach);
    reach = lane::select(mask(action_ == counter(contract_outside)), Number(scalar(0.5)), reach);
    return lane::select(mask(action_ == counter(contract_inside)), Number(scalar(-0.5)), reach);
  }

  /// The next trial: the last vertex, if it has no cost; else the centre of all vertices but the worst, plus the
  /// action's reach times the vector from the worst to it. An expansion's reflected point, better than the worst in any
  /// case, becomes a vertex.
  VOXHERD_FUNCTION void propose(const mask& to_expand) {
    const mask filling = action_ == counter(fill);
    const Number reach = reach_of_action(), more = scalar(1) + reach;
    Number p[Count];
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) {
      Number sum = x_.at(0, i);  // 0 in unused entries
      VOXHERD_UNROLL
      for (int v = 1; v < worst; ++v) sum += x_.at(v, i);
      p[i] = more * mean(sum) - reach * x_.at(worst, i);
    }
    limits_.confine(p);
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) {
      const Number next = lane::select(filling, x_.at(worst, i), p[i]);
      x_.set(to_expand, worst, i, trial_[i]);
      trial_[i] = next;
    }
  }

  /// A sum over all free parameters divided by their number. On the GPU, two multiply-adds correct the product with the
  /// reciprocal to the quotient (Markstein): a general division has branches.
  VOXHERD_FUNCTION Number mean(Number sum) const {
    const scalar n(Count - first_);
#if defined(__CUDA_ARCH__)
    const Number product = sum * part_;
    return lane::fma(lane::fma(-product, n, sum), part_, product);
#else
    return sum / n;
#endif
  }

  const fit_limits<scalar, Count>& limits_;
  Vertices x_;
  int first_;    ///< number of the best vertex
  scalar part_;  ///< 1 / free parameters
  Number f_[Count + 1] = {};
  Number trial_[Count] = {};
  Number reflected_{};  ///< cost of the reflected point, while another is tried
  counter action_{}, iterations_{};
};

}  // namespace voxherd::perfusion
