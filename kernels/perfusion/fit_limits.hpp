#pragma once

#include "kernels/perfusion/settings.hpp"
#include "kernels/portable/contract.hpp"
#include "kernels/portable/lanes.hpp"

namespace voxherd::perfusion {

/// The part of fit_settings that the fit machines need, for one number type's scalar and `Count` parameters.
template <class Scalar, int Count>
struct fit_limits {
  explicit fit_limits(const fit_settings& s)
      : max_iterations(s.max_iterations),
        absolute_tolerance(static_cast<Scalar>(s.absolute_tolerance)),
        relative_tolerance(static_cast<Scalar>(s.relative_tolerance)),
        bounded(s.bounded) {
    assert(s.rules.size() == Count);
    for (int i = 0; i < Count; ++i) {
      const parameter_rule& r = s.rules[static_cast<std::size_t>(i)];
      start[i] = static_cast<Scalar>(r.start);
      least[i] = static_cast<Scalar>(r.least);
      most[i] = static_cast<Scalar>(r.most);
      fixed[i] = r.fixed;
      free_count += r.fixed ? 0 : 1;
    }
  }

  Scalar start[Count], least[Count], most[Count];
  bool fixed[Count];
  int free_count = 0;
  int max_iterations;
  Scalar absolute_tolerance, relative_tolerance;
  bool bounded;

  /// Fixed parameters at their value, the others within bounds if there are bounds.
  template <class Number>
  VOXHERD_FUNCTION void confine(Number (&p)[Count]) const {
    if (bounded) {
      VOXHERD_UNROLL
      for (int i = 0; i < Count; ++i) p[i] = lane::min(lane::max(p[i], Number(least[i])), Number(most[i]));
    }
    if (free_count == Count) return;
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i)
      if (fixed[i]) p[i] = Number(start[i]);
  }

  /// The same, and parameters very close to a bound are set to it: otherwise a step cut off at the bound would be too
  /// short to reduce the cost, however often it is halved.
  template <class Number>
  VOXHERD_FUNCTION void settle(Number (&p)[Count]) const {
    constexpr Scalar next_to = Scalar(1e-6);  // of the bounds' distance
    confine(p);
    if (!bounded) return;
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) {
      if (fixed[i]) continue;
      const Scalar near = next_to * (most[i] - least[i]);
      p[i] = lane::select(p[i] < Number(least[i] + near), Number(least[i]), p[i]);
      p[i] = lane::select(p[i] > Number(most[i] - near), Number(most[i]), p[i]);
    }
  }
};

/// Small integers that differ between lanes: int for one voxel, else numbers of the same register.
template <class Number>
struct counter_of {
  using type = Number;
};
template <>
struct counter_of<float> {
  using type = int;
};
template <>
struct counter_of<double> {
  using type = int;
};

VOXHERD_FUNCTION inline int choose(bool condition, int a, int b) { return condition ? a : b; }
template <class Number>
VOXHERD_FUNCTION inline Number choose(const typename lane::lane_traits<Number>::mask& condition, const Number& a,
                                      const Number& b) {
  return lane::select(condition, a, b);
}

/// A cost that can be compared: NaN becomes infinity.
template <class Number>
VOXHERD_FUNCTION inline Number ordered(Number cost) {
  const Number worst(typename lane::lane_traits<Number>::scalar(1e30));
  return lane::select(cost < worst, cost, worst);
}

}  // namespace voxherd::perfusion
