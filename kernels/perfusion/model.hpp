#pragma once

#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "kernels/perfusion/tissue_model.hpp"
#include "kernels/portable/cholesky.hpp"

/// A curve model computes the curves of a tissue model for any number type (samples.hpp), with these functions:
///
///   Number cost(const Number (&p)[n], voxel_samples y) const;
///     the sum over the fitted frames of (y_i - C_i(p))^2; p in the order of the tissue model's table, 1/s and s
///   void equations(const Number (&p)[n], voxel_samples y, normal_equations<Tissue, Number>& out) const;
///   void separable(const Number (&p)[n], voxel_samples y, separable_equations<Tissue, Number>& out) const;
///     only for washout models
///   void curve(const Number (&p)[n], Write write) const;  write(i, C_i) for every frame
namespace voxherd::perfusion {

/// Sums over the fitted frames of a curve's derivatives, the columns of J, for a step of least squares.
template <class Number, int Columns>
struct column_sums {
  Number cost;                           ///< sum of squares
  Number gradient[Columns];              ///< J' (y - C)
  Number hessian[packed_size(Columns)];  ///< J' J, packed lower triangle (packed_index)
};

/// With respect to the parameters.
template <class Tissue, class Number>
using normal_equations = column_sums<Number, parameter_count<Tissue>>;

/// The columns of a washout model's separable equations: of each input the curve of a flow of 1/s, then its derivatives
/// by the rate and by the input's delay.
template <class Tissue>
struct separable_columns {
  static constexpr int inputs = Tissue::inputs, count = 3 * inputs;
  VOXHERD_FUNCTION static constexpr int curve(int input) { return input; }
  VOXHERD_FUNCTION static constexpr int by_rate(int input) { return inputs + input; }
  VOXHERD_FUNCTION static constexpr int by_delay(int input) { return 2 * inputs + input; }
};

/// With respect to these columns: sufficient for the equations at any flows.
template <class Tissue, class Number>
using separable_equations = column_sums<Number, separable_columns<Tissue>::count>;

/// The columns that a curve model sums up, in which the derivatives by all parameters are linear: dC / d rate_j; each
/// exponential's convolution with each input; the delayed inputs and, where they are a part of C, their slopes.
template <class Tissue>
struct raw_columns {
  static constexpr int inputs = Tissue::inputs, exponentials = Tissue::exponentials;
  static constexpr int count = exponentials + inputs * exponentials + (Tissue::has_instant ? 2 : 1) * inputs;
  VOXHERD_FUNCTION static constexpr int by_rate(int exponential) { return exponential; }
  VOXHERD_FUNCTION static constexpr int convolved(int input, int exponential) {
    return exponentials + inputs * exponential + input;
  }
  VOXHERD_FUNCTION static constexpr int delayed(int input) { return exponentials + inputs * exponentials + input; }
  VOXHERD_FUNCTION static constexpr int sloping(int input) { return delayed(inputs) + input; }
};

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

/// The equations with respect to the parameters, from those of raw columns.
template <class Tissue, class Number>
VOXHERD_FUNCTION inline void make_equations(const Number (&p)[parameter_count<Tissue>],
                                            const response_of<Tissue, Number>& r,
                                            const column_sums<Number, raw_columns<Tissue>::count>& raw,
                                            normal_equations<Tissue, Number>& e) {
  using columns = raw_columns<Tissue>;
  using scalar = typename lane::lane_traits<Number>::scalar;
  constexpr int count = parameter_count<Tissue>;
  response_of<Tissue, Number> by[count] = {};
  Tissue::differentiate(p, r, by);
  Number part[count][columns::count];  // of each raw column in each parameter's
  VOXHERD_UNROLL
  for (int k = 0; k < count; ++k) {
    VOXHERD_UNROLL
    for (int j = 0; j < Tissue::exponentials; ++j) part[k][columns::by_rate(j)] = by[k].rate[j];
    VOXHERD_UNROLL
    for (int i = 0; i < Tissue::inputs; ++i) {
      Number entering(scalar(0));
      VOXHERD_UNROLL
      for (int j = 0; j < Tissue::exponentials; ++j) {
        // G(t - delay) changes with the delay by rate G minus the delayed input.
        part[k][columns::convolved(i, j)] = by[k].amplitude[i][j] + by[k].delay[i] * (r.amplitude[i][j] * r.rate[j]);
        entering += r.amplitude[i][j];
      }
      part[k][columns::delayed(i)] = -(by[k].delay[i] * entering);
      if constexpr (Tissue::has_instant) {
        part[k][columns::delayed(i)] += by[k].instant[i];
        part[k][columns::sloping(i)] = -(by[k].delay[i] * r.instant[i]);
      }
    }
  }
  e.cost = raw.cost;
  VOXHERD_UNROLL
  for (int k = 0; k < count; ++k) {
    Number turned[columns::count];  // row k of `part` times the raw Hessian
    e.gradient[k] = Number(scalar(0));
    VOXHERD_UNROLL
    for (int a = 0; a < columns::count; ++a) {
      e.gradient[k] += part[k][a] * raw.gradient[a];
      turned[a] = Number(scalar(0));
      VOXHERD_UNROLL
      for (int b = 0; b < columns::count; ++b)
        turned[a] += part[k][b] * raw.hessian[a >= b ? packed_index(a, b) : packed_index(b, a)];
    }
    VOXHERD_UNROLL
    for (int l = 0; l <= k; ++l) {
      Number& h = e.hessian[packed_index(k, l)];
      h = Number(scalar(0));
      VOXHERD_UNROLL
      for (int a = 0; a < columns::count; ++a) h += turned[a] * part[l][a];
    }
  }
}

}  // namespace voxherd::perfusion
