#pragma once

#include "kernels/connect/lattice.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::connect {

/// The equation of one cell: f(u) = sum of weight_i max(0, u - v_i)^2 = 1 with v_i the smaller of the two neighbours
/// along direction i. f is convex, and increasing where it is positive: Newton's iterates from above stay above the
/// solution, so that each is an upper bound by itself, and the v_i need not be sorted.
template <class Number>
struct selling_equation {
  Number weight[selling_directions], v[selling_directions];

  /// Cost of a voxel along one direction only; 1e18, larger than any cost, for a direction without weight.
  VOXHERD_FUNCTION static Number step(Number w) { return lane::reciprocal(lane::sqrt(lane::max(w, Number(1e-36f)))); }

  /// For cells that no front has reached: from one direction only, u <= v_i + weight_i^(-1/2).
  VOXHERD_FUNCTION Number bound() const {
    Number u = unreached;
    VOXHERD_UNROLL
    for (int i = 0; i < selling_directions; ++i) u = lane::min(u, v[i] + step(weight[i]));
    return u;
  }

  /// One step from `u`, at or above the solution; returns u itself if it is the solution to rounding.
  VOXHERD_FUNCTION Number newton(Number u) const {
    Number f, slope;
    evaluate(u, f, slope);
    return lane::select(f > 0.0f, u - 0.5f * f * lane::reciprocal(slope), u);
  }
  /// One step from anywhere: from below the solution it leads above it, possibly to infinity.
  VOXHERD_FUNCTION Number newton_from_anywhere(Number u) const {
    Number f, slope;
    evaluate(u, f, slope);
    return u - 0.5f * f * lane::reciprocal(slope);
  }

 private:
  /// f - 1 and half its slope
  VOXHERD_FUNCTION void evaluate(Number u, Number& f, Number& slope) const {
    f = -1.0f;
    slope = 0.0f;
    VOXHERD_UNROLL
    for (int i = 0; i < selling_directions; ++i) {
      const Number t = lane::max(u - v[i], Number(0.0f)), wt = weight[i] * t;
      f = lane::fma(wt, t, f);
      slope += wt;
    }
  }
};

}  // namespace voxherd::connect
