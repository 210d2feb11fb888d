#pragma once

#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/portable/cholesky.hpp"

/// A model is a class for any number type (samples.hpp) with these functions:
///
///   Number cost(const Number (&p)[parameter_count], voxel_samples y) const;
///     the sum over the fitted frames of (y_i - C_i(p))^2; p in the order of `parameter`, 1/s and s
///   void equations(const Number (&p)[parameter_count], voxel_samples y, normal_equations<Number>& out) const;
///   void separable(const Number (&p)[parameter_count], voxel_samples y, separable_equations<Number>& out) const;
///   void curve(const Number (&p)[parameter_count], Write write) const;  write(i, C_i) for every frame
namespace voxherd::perfusion {

/// Sums over the fitted frames of a curve's derivatives, the columns of J, for a step of least squares.
template <class Number, int Columns>
struct column_sums {
  Number cost;                           ///< sum of squares
  Number gradient[Columns];              ///< J' (y - C)
  Number hessian[packed_size(Columns)];  ///< J' J, packed lower triangle (packed_index)
};

/// With respect to the parameters.
template <class Number>
using normal_equations = column_sums<Number, parameter_count>;

/// The parts of C = ka arterial + kp portal, and their derivatives by the parameters that are not linear.
enum separable_column : int {
  unit_arterial,  ///< curve of a flow of 1/s
  unit_portal,
  arterial_by_kl,  ///< its derivatives
  portal_by_kl,
  arterial_by_delay,
  portal_by_delay,
  separable_columns
};

/// With respect to these columns: sufficient for the equations at any flows.
template <class Number>
using separable_equations = column_sums<Number, separable_columns>;

template <class Number, int Columns>
VOXHERD_FUNCTION inline void clear(column_sums<Number, Columns>& e) {
  using scalar = typename lane::lane_traits<Number>::scalar;
  e.cost = Number(scalar(0));
  VOXHERD_UNROLL
  for (Number& g : e.gradient) g = Number(scalar(0));
  VOXHERD_UNROLL
  for (Number& h : e.hessian) h = Number(scalar(0));
}

/// Adds one frame: its row of J and its y - C.
template <class Number, int Columns>
VOXHERD_FUNCTION inline void add_frame(const Number (&row)[Columns], Number rest, column_sums<Number, Columns>& e) {
  e.cost += rest * rest;
  VOXHERD_UNROLL
  for (int a = 0; a < Columns; ++a) {
    e.gradient[a] += row[a] * rest;
    VOXHERD_UNROLL
    for (int b = 0; b <= a; ++b) e.hessian[packed_index(a, b)] += row[a] * row[b];
  }
}

/// Column `Own` becomes own * itself + other * column `Other` < Own.
template <int Own, int Other, class Number, int Columns>
VOXHERD_FUNCTION inline void combine_columns(Number own, Number other, column_sums<Number, Columns>& e) {
  auto& h = e.hessian;
  const auto at = [](int i, int j) { return i >= j ? packed_index(i, j) : packed_index(j, i); };
  const Number cross = h[at(Own, Other)];
  e.gradient[Own] = own * e.gradient[Own] + other * e.gradient[Other];
  VOXHERD_UNROLL
  for (int j = 0; j < Columns; ++j)
    if (j != Own) h[at(Own, j)] = own * h[at(Own, j)] + other * h[at(Other, j)];
  h[at(Own, Own)] = own * own * h[at(Own, Own)] + (own * other) * (cross + cross) + other * other * h[at(Other, Other)];
}

}  // namespace voxherd::perfusion
