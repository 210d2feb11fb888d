#pragma once

#include "kernels/perfusion/levenberg.hpp"

namespace voxherd::perfusion {

/// The equations of a washout model with respect to the parameters, from those of separable columns whose `cost` and
/// `gradient` are at p's flows.
template <class Tissue, class Number>
VOXHERD_FUNCTION inline void make_equations(const Number (&p)[Tissue::count],
                                            const separable_equations<Tissue, Number>& s,
                                            normal_equations<Tissue, Number>& e) {
  using columns = separable_columns<Tissue>;
  constexpr int inputs = Tissue::inputs, rate = Tissue::rate;
  const auto m = [&](int i, int j) { return s.hessian[i >= j ? packed_index(i, j) : packed_index(j, i)]; };
  const auto flow = [&](int n) { return p[Tissue::flow(n)]; };
  const auto by_rate = [&](int j) {
    return sum_over_inputs<inputs>([&](int n) { return flow(n) * m(columns::by_rate(n), j); });
  };
  auto& h = e.hessian;
  e.cost = s.cost;
  e.gradient[rate] = sum_over_inputs<inputs>([&](int n) { return flow(n) * s.gradient[columns::by_rate(n)]; });
  h[packed_index(rate, rate)] = sum_over_inputs<inputs>([&](int n) { return flow(n) * by_rate(columns::by_rate(n)); });
  VOXHERD_UNROLL
  for (int n = 0; n < inputs; ++n) {
    const int own_flow = Tissue::flow(n), own_delay = Tissue::delay(n);
    e.gradient[own_flow] = s.gradient[columns::curve(n)];
    e.gradient[own_delay] = flow(n) * s.gradient[columns::by_delay(n)];
    h[packed_index(own_flow, rate)] = by_rate(columns::curve(n));
    h[packed_index(own_delay, rate)] = flow(n) * by_rate(columns::by_delay(n));
    VOXHERD_UNROLL
    for (int other = 0; other < inputs; ++other) {
      h[packed_index(own_delay, Tissue::flow(other))] = flow(n) * m(columns::by_delay(n), columns::curve(other));
      if (other > n) continue;
      h[packed_index(own_flow, Tissue::flow(other))] = m(columns::curve(n), columns::curve(other));
      h[packed_index(own_delay, Tissue::delay(other))] =
          flow(other) * flow(n) * m(columns::by_delay(n), columns::by_delay(other));
    }
  }
}

/// Variable projection (Golub & Pereyra, SIAM J Numer Anal 10:413, 1973): at each trial of rate and delays, the flows
/// are those of the smallest cost within their bounds, in closed form; only the others are iterated. With the flows
/// undamped, their elimination from the normal equations leaves Kaufman's Jacobian (BIT 15:49, 1975) of the others:
/// the part of the derivatives that changes of the free flows cannot produce. A state machine like `levenberg`.
template <class Tissue, class Number>
class varpro : public levenberg<Tissue, Number, true> {
 public:
  using base = levenberg<Tissue, Number, true>;
  using base::base;
  using typename base::mask;
  using typename base::scalar;

  /// Evaluates the model at the next point and continues; returns which lanes have ended.
  template <class Model>
  VOXHERD_FUNCTION mask advance(const Model& model, voxel_samples y) {
    Number trial[Tissue::count];
    this->next_trial(trial);
    separable_equations<Tissue, Number> s;
    model.separable(trial, y, s);
    find_flows(trial, s);
    normal_equations<Tissue, Number> e;
    make_equations<Tissue>(trial, s, e);
    return this->tell(trial, e);
  }

 private:
  static constexpr int inputs = Tissue::inputs;
  using sums = separable_equations<Tissue, Number>;

  struct interval {
    Number least, most;
  };

  /// Without bounds flows are still not negative.
  VOXHERD_FUNCTION interval range_of(int flow) const {
    const auto& l = this->limits_;
    if (l.fixed[flow]) return {Number(l.start[flow]), Number(l.start[flow])};
    if (!l.bounded) return {Number(scalar(0)), Number(scalar(1e15))};
    return {Number(l.least[flow]), Number(l.most[flow])};
  }

  VOXHERD_FUNCTION static Number within(Number x, const interval& range) {
    return lane::min(lane::max(x, range.least), range.most);
  }

  /// A change of two flows, and how much it reduces the cost.
  struct change {
    Number first, second, fall;

    VOXHERD_FUNCTION change(Number a, Number b, const sums& s) : first(a), second(b) {
      const Number two(scalar(2));
      const Number bent_a = s.hessian[packed_index(0, 0)] * a + s.hessian[packed_index(1, 0)] * b;
      const Number bent_b = s.hessian[packed_index(1, 0)] * a + s.hessian[packed_index(1, 1)] * b;
      fall = a * (two * s.gradient[0] - bent_a) + b * (two * s.gradient[1] - bent_b);
    }

    VOXHERD_FUNCTION void take(const change& other) {
      const mask better = other.fall > fall;
      first = lane::select(better, other.first, first);
      second = lane::select(better, other.second, second);
      fall = lane::select(better, other.fall, fall);
    }
  };

  /// The best change with flow `Held` at `value`.
  template <int Held>
  VOXHERD_FUNCTION static change along_edge(Number value, const Number (&now)[2], const interval (&range)[2],
                                            const sums& s) {
    constexpr int other = 1 - Held;
    const Number moved = value - now[Held];
    const Number square = lane::max(s.hessian[packed_index(other, other)], Number(scalar(1e-30)));
    const Number best = now[other] + (s.gradient[other] - s.hessian[packed_index(1, 0)] * moved) / square;
    const Number rest = within(best, range[other]) - now[other];
    return Held == 0 ? change(moved, rest, s) : change(rest, moved, s);
  }

  /// Moves trial and sums to the best flows.
  VOXHERD_FUNCTION void find_flows(Number (&trial)[Tissue::count], sums& s) const {
    if constexpr (inputs == 1)
      find_one_flow(trial, s);
    else
      find_two_flows(trial, s);
  }

  VOXHERD_FUNCTION void find_one_flow(Number (&trial)[Tissue::count], sums& s) const {
    const interval range = range_of(Tissue::flow(0));
    const Number now = trial[Tissue::flow(0)], two(scalar(2));
    const Number square = lane::max(s.hessian[0], Number(scalar(1e-30)));
    const Number best = within(now + s.gradient[0] / square, range), moved = best - now;
    trial[Tissue::flow(0)] = best;
    s.cost -= moved * (two * s.gradient[0] - s.hessian[0] * moved);
    VOXHERD_UNROLL
    for (int i = 0; i < separable_columns<Tissue>::count; ++i) s.gradient[i] -= moved * s.hessian[packed_index(i, 0)];
  }

  /// Inside both ranges, or the best of the four edges.
  VOXHERD_FUNCTION void find_two_flows(Number (&trial)[Tissue::count], sums& s) const {
    const interval range[2] = {range_of(Tissue::flow(0)), range_of(Tissue::flow(1))};
    const Number now[2] = {trial[Tissue::flow(0)], trial[Tissue::flow(1)]};
    change best = along_edge<0>(range[0].least, now, range, s);
    best.take(along_edge<1>(range[1].least, now, range, s));
    best.take(along_edge<0>(range[0].most, now, range, s));
    best.take(along_edge<1>(range[1].most, now, range, s));

    const Number aa = s.hessian[packed_index(0, 0)], ab = s.hessian[packed_index(1, 0)];
    const Number bb = s.hessian[packed_index(1, 1)];
    const Number determinant = aa * bb - ab * ab;
    constexpr scalar tiny = sizeof(scalar) == sizeof(double) ? scalar(1e-12) : scalar(1e-5);
    const mask regular = determinant > tiny * aa * bb;
    const Number inverse = Number(scalar(1)) / lane::select(regular, determinant, Number(scalar(1)));
    const Number a = now[0] + (s.gradient[0] * bb - s.gradient[1] * ab) * inverse;
    const Number b = now[1] + (s.gradient[1] * aa - s.gradient[0] * ab) * inverse;
    const mask inside =
        regular && a >= range[0].least && a <= range[0].most && b >= range[1].least && b <= range[1].most;
    const change free(a - now[0], b - now[1], s);
    best.first = lane::select(inside, free.first, best.first);
    best.second = lane::select(inside, free.second, best.second);
    best.fall = lane::select(inside, free.fall, best.fall);

    trial[Tissue::flow(0)] = within(now[0] + best.first, range[0]);
    trial[Tissue::flow(1)] = within(now[1] + best.second, range[1]);
    s.cost -= best.fall;
    VOXHERD_UNROLL
    for (int i = 0; i < separable_columns<Tissue>::count; ++i)
      s.gradient[i] -= best.first * s.hessian[i < 1 ? 0 : packed_index(i, 0)] +
                       best.second * s.hessian[i < 1 ? packed_index(1, 0) : packed_index(i, 1)];
  }
};

}  // namespace voxherd::perfusion
