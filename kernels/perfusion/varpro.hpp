#pragma once

#include "kernels/perfusion/levenberg.hpp"

namespace voxherd::perfusion {

/// The equations with respect to the parameters, from those of columns whose `cost` and `gradient` are at p's flows.
template <class Number>
VOXHERD_FUNCTION inline void make_equations(const Number (&p)[parameter_count], const separable_equations<Number>& s,
                                            normal_equations<Number>& e) {
  const auto m = [&](int i, int j) { return s.hessian[i >= j ? packed_index(i, j) : packed_index(j, i)]; };
  e.cost = s.cost;
  e.gradient[kl] = p[ka] * s.gradient[arterial_by_kl] + p[kp] * s.gradient[portal_by_kl];
  e.gradient[ka] = s.gradient[unit_arterial];
  e.gradient[kp] = s.gradient[unit_portal];
  e.gradient[tau_a] = p[ka] * s.gradient[arterial_by_delay];
  e.gradient[tau_p] = p[kp] * s.gradient[portal_by_delay];

  auto& h = e.hessian;
  const auto by_kl = [&](int j) { return p[ka] * m(arterial_by_kl, j) + p[kp] * m(portal_by_kl, j); };
  h[packed_index(kl, kl)] = p[ka] * by_kl(arterial_by_kl) + p[kp] * by_kl(portal_by_kl);
  h[packed_index(ka, kl)] = by_kl(unit_arterial);
  h[packed_index(kp, kl)] = by_kl(unit_portal);
  h[packed_index(ka, ka)] = m(unit_arterial, unit_arterial);
  h[packed_index(kp, ka)] = m(unit_portal, unit_arterial);
  h[packed_index(kp, kp)] = m(unit_portal, unit_portal);
  h[packed_index(tau_a, kl)] = p[ka] * by_kl(arterial_by_delay);
  h[packed_index(tau_a, ka)] = p[ka] * m(arterial_by_delay, unit_arterial);
  h[packed_index(tau_a, kp)] = p[ka] * m(arterial_by_delay, unit_portal);
  h[packed_index(tau_a, tau_a)] = p[ka] * p[ka] * m(arterial_by_delay, arterial_by_delay);
  h[packed_index(tau_p, kl)] = p[kp] * by_kl(portal_by_delay);
  h[packed_index(tau_p, ka)] = p[kp] * m(portal_by_delay, unit_arterial);
  h[packed_index(tau_p, kp)] = p[kp] * m(portal_by_delay, unit_portal);
  h[packed_index(tau_p, tau_a)] = p[ka] * p[kp] * m(portal_by_delay, arterial_by_delay);
  h[packed_index(tau_p, tau_p)] = p[kp] * p[kp] * m(portal_by_delay, portal_by_delay);
}

/// Variable projection (Golub & Pereyra, SIAM J Numer Anal 10:413, 1973): at each trial of kl and the delays, ka and kp
/// are those of the smallest cost within their bounds, in closed form; only the three are iterated. With the flows
/// undamped, their elimination from the normal equations leaves Kaufman's Jacobian (BIT 15:49, 1975) of the three:
/// the part of the derivatives that changes of the free flows cannot produce. A state machine like `levenberg`.
template <class Number>
class varpro : public levenberg<Number, true> {
 public:
  using base = levenberg<Number, true>;
  using base::base;
  using typename base::mask;
  using typename base::scalar;

  /// Evaluates the model at the next point and continues; returns which lanes have ended.
  template <class Model>
  VOXHERD_FUNCTION mask advance(const Model& model, voxel_samples y) {
    Number trial[parameter_count];
    this->next_trial(trial);
    separable_equations<Number> s;
    model.separable(trial, y, s);
    find_flows(trial, s);
    normal_equations<Number> e;
    make_equations(trial, s, e);
    return this->tell(trial, e);
  }

 private:
  struct interval {
    Number least, most;
  };

  /// Without bounds flows are still not negative.
  VOXHERD_FUNCTION interval range_of(parameter flow) const {
    const auto& l = this->limits_;
    if (l.fixed[flow]) return {Number(l.start[flow]), Number(l.start[flow])};
    if (!l.bounded) return {Number(scalar(0)), Number(scalar(1e15))};
    return {Number(l.least[flow]), Number(l.most[flow])};
  }

  VOXHERD_FUNCTION static Number within(Number x, const interval& range) {
    return lane::min(lane::max(x, range.least), range.most);
  }

  /// A change of the two flows, and how much it reduces the cost.
  struct change {
    Number arterial, portal, fall;

    VOXHERD_FUNCTION change(Number a, Number p, const separable_equations<Number>& s) : arterial(a), portal(p) {
      const Number two(scalar(2));
      const Number bent_a = s.hessian[packed_index(0, 0)] * a + s.hessian[packed_index(1, 0)] * p;
      const Number bent_p = s.hessian[packed_index(1, 0)] * a + s.hessian[packed_index(1, 1)] * p;
      fall = a * (two * s.gradient[0] - bent_a) + p * (two * s.gradient[1] - bent_p);
    }

    VOXHERD_FUNCTION void take(const change& other) {
      const mask better = other.fall > fall;
      arterial = lane::select(better, other.arterial, arterial);
      portal = lane::select(better, other.portal, portal);
      fall = lane::select(better, other.fall, fall);
    }
  };

  /// The best change with flow `Held` (0 arterial, 1 portal) at `value`.
  template <int Held>
  VOXHERD_FUNCTION static change along_edge(Number value, const Number (&now)[2], const interval (&range)[2],
                                            const separable_equations<Number>& s) {
    constexpr int other = 1 - Held;
    const Number moved = value - now[Held];
    const Number square = lane::max(s.hessian[packed_index(other, other)], Number(scalar(1e-30)));
    const Number best = now[other] + (s.gradient[other] - s.hessian[packed_index(1, 0)] * moved) / square;
    const Number rest = within(best, range[other]) - now[other];
    return Held == 0 ? change(moved, rest, s) : change(rest, moved, s);
  }

  /// Moves trial and sums to the best flows: inside both ranges, or the best of the four edges.
  VOXHERD_FUNCTION void find_flows(Number (&trial)[parameter_count], separable_equations<Number>& s) const {
    const interval range[2] = {range_of(ka), range_of(kp)};
    const Number now[2] = {trial[ka], trial[kp]};
    change best = along_edge<0>(range[0].least, now, range, s);
    best.take(along_edge<1>(range[1].least, now, range, s));
    best.take(along_edge<0>(range[0].most, now, range, s));
    best.take(along_edge<1>(range[1].most, now, range, s));

    const Number aa = s.hessian[packed_index(0, 0)], ap = s.hessian[packed_index(1, 0)];
    const Number pp = s.hessian[packed_index(1, 1)];
    const Number determinant = aa * pp - ap * ap;
    constexpr scalar tiny = sizeof(scalar) == sizeof(double) ? scalar(1e-12) : scalar(1e-5);
    const mask regular = determinant > tiny * aa * pp;
    const Number inverse = Number(scalar(1)) / lane::select(regular, determinant, Number(scalar(1)));
    const Number a = now[0] + (s.gradient[0] * pp - s.gradient[1] * ap) * inverse;
    const Number p = now[1] + (s.gradient[1] * aa - s.gradient[0] * ap) * inverse;
    const mask inside =
        regular && a >= range[0].least && a <= range[0].most && p >= range[1].least && p <= range[1].most;
    const change free(a - now[0], p - now[1], s);
    best.arterial = lane::select(inside, free.arterial, best.arterial);
    best.portal = lane::select(inside, free.portal, best.portal);
    best.fall = lane::select(inside, free.fall, best.fall);

    trial[ka] = within(now[0] + best.arterial, range[0]);
    trial[kp] = within(now[1] + best.portal, range[1]);
    s.cost -= best.fall;
    VOXHERD_UNROLL
    for (int i = 0; i < separable_columns; ++i)
      s.gradient[i] -= best.arterial * s.hessian[i < 1 ? 0 : packed_index(i, 0)] +
                       best.portal * s.hessian[i < 1 ? packed_index(1, 0) : packed_index(i, 1)];
  }
};

}  // namespace voxherd::perfusion
