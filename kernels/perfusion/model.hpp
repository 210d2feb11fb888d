#pragma once

#include "kernels/perfusion/curves.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/portable/cholesky.hpp"

/// A model is a callable for any number type (samples.hpp). What it offers:
///
///   Number cost(const Number (&p)[parameter_count], voxel_samples y) const;
///     the sum over the counted frames of (y_i - C_i(p))^2; p in the order of `parameter`, 1/s and s
///   void equations(const Number (&p)[parameter_count], voxel_samples y, normal_equations<Number>& out) const;
///   void curve(const Number (&p)[parameter_count], Write write) const;  write(i, C_i) for every frame
namespace voxherd::perfusion {

/// What a step of least squares needs: J is the derivative of the curve with respect to the parameters.
template <class Number>
struct normal_equations {
  Number cost;                                   ///< sum of squares
  Number gradient[parameter_count];              ///< J' (y - C)
  Number hessian[packed_size(parameter_count)];  ///< J' J, packed lower triangle (packed_index)
};

template <class Number>
VOXHERD_FUNCTION inline void clear(normal_equations<Number>& e) {
  using scalar = typename lane::lane_traits<Number>::scalar;
  e.cost = Number(scalar(0));
  VOXHERD_UNROLL
  for (Number& g : e.gradient) g = Number(scalar(0));
  VOXHERD_UNROLL
  for (Number& h : e.hessian) h = Number(scalar(0));
}

/// A frame's part: its row of J and its y - C.
template <class Number>
VOXHERD_FUNCTION inline void add_frame(const Number (&row)[parameter_count], Number rest, normal_equations<Number>& e) {
  e.cost += rest * rest;
  VOXHERD_UNROLL
  for (int a = 0; a < parameter_count; ++a) {
    e.gradient[a] += row[a] * rest;
    VOXHERD_UNROLL
    for (int b = 0; b <= a; ++b) e.hessian[packed_index(a, b)] += row[a] * row[b];
  }
}

}  // namespace voxherd::perfusion
