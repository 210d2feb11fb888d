#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/portable/function.hpp"

namespace voxherd {

/// q = sqrt(b / largest b) g of every measurement, 3 numbers each: b g g^T is then q q^T times the largest b,
/// and the columns of the normal equations have the same magnitude.
struct tensor_design {
  const double* q;
  std::size_t measurements;
  double largest_b_s_per_mm2;
};

/// log S = log S0 - b g^T D g, in units where signals are 1 at the voxel's largest sample and b is 1 at the largest b.
/// Number: double, or double_lanes with one voxel per lane.
namespace tensor_model {

inline constexpr int unknowns = 7;  ///< D xx, xy, xz, yy, yz, zz, log S0

/// Samples below this fraction of the voxel's largest are raised to it, because their logarithm must exist. In weighted
/// fits their weight is negligible. The value is inferred from the results of MRtrix3's dwi2tensor.
inline constexpr double floor_of_largest = 1e-6;
/// Keeps exp() and its square finite for a hopeless fit.
inline constexpr double largest_exponent = 150;

/// Gradient non-linearity: the effective gradients are v = (I + L) g, so b g g^T becomes b v v^T. `matrix` is I + L.
template <class Number>
struct deviation {
  Number matrix[3][3];
};

/// Row of the least squares for an effective gradient.
template <class Number>
VOXHERD_FUNCTION inline void make_row(const Number (&q)[3], Number (&x)[unknowns]) {
  x[0] = -q[0] * q[0];
  x[1] = -2 * q[0] * q[1];
  x[2] = -2 * q[0] * q[2];
  x[3] = -q[1] * q[1];
  x[4] = -2 * q[1] * q[2];
  x[5] = -q[2] * q[2];
  x[6] = 1;
}

/// The same from a measurement's index in tensor_design::q.
template <class Number>
VOXHERD_FUNCTION inline void design_row(const double* g, const deviation<Number>& bend, Number (&x)[unknowns]) {
  Number q[3];
  for (int i = 0; i < 3; ++i) q[i] = bend.matrix[i][0] * g[0] + bend.matrix[i][1] * g[1] + bend.matrix[i][2] * g[2];
  make_row(q, x);
}

VOXHERD_FUNCTION inline void design_row(const double* g, double (&x)[unknowns]) {
  const double q[3] = {g[0], g[1], g[2]};
  make_row(q, x);
}

template <class Row, class Number>
VOXHERD_FUNCTION inline Number log_prediction(const Row (&x)[unknowns], const Number (&p)[unknowns]) {
  Number sum = p[6];
  for (int i = 0; i < 6; ++i) sum += x[i] * p[i];
  return sum;
}

}  // namespace tensor_model

}  // namespace voxherd
