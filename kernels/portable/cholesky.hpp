#pragma once

#include <cmath>
#include <limits>

#include "kernels/portable/contract.hpp"
#include "kernels/portable/lanes.hpp"

namespace voxherd {

/// Index of element (row, column), row >= column, in the packed lower triangle of a symmetric matrix.
VOXHERD_FUNCTION constexpr int packed_index(int row, int column) {
  assert(column >= 0 && column <= row);
  return row * (row + 1) / 2 + column;
}

/// Number of elements of the packed lower triangle of an n x n matrix.
VOXHERD_FUNCTION constexpr int packed_size(int n) { return packed_index(n, 0); }

/// Factors A = L L^T in place; `a` contains the packed lower triangle of A. Leaves 1 / L(i,i) on the diagonal, as the
/// solve needs. False, with `a` undefined, if A is not finite or not positive definite to rounding.
template <int N, class T>
VOXHERD_FUNCTION inline bool cholesky_factor(T (&a)[packed_size(N)]) {
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < i; ++j) {
      T sum = a[packed_index(i, j)];
      for (int k = 0; k < j; ++k) sum -= a[packed_index(i, k)] * a[packed_index(j, k)];
      a[packed_index(i, j)] = sum * a[packed_index(j, j)];
    }
    const T diagonal = a[packed_index(i, i)];
    T pivot = diagonal;
    for (int k = 0; k < i; ++k) pivot -= a[packed_index(i, k)] * a[packed_index(i, k)];
    // A pivot of the size of the rounding error means a row that depends on previous rows.
    if (!(pivot > std::numeric_limits<T>::epsilon() * diagonal)) return false;
    a[packed_index(i, i)] = 1 / std::sqrt(pivot);
  }
  return true;
}

/// The same for a number type of one or several lanes, without branches. Returns the mask of successful lanes; the
/// others contain undefined values or NaN.
template <int N, class Mask, class T>
VOXHERD_FUNCTION inline Mask cholesky_factor_lanes(T (&a)[packed_size(N)]) {
  Mask good(true);
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < i; ++j) {
      T sum = a[packed_index(i, j)];
      for (int k = 0; k < j; ++k) sum -= a[packed_index(i, k)] * a[packed_index(j, k)];
      a[packed_index(i, j)] = sum * a[packed_index(j, j)];
    }
    const T diagonal = a[packed_index(i, i)];
    T pivot = diagonal;
    for (int k = 0; k < i; ++k) pivot -= a[packed_index(i, k)] * a[packed_index(i, k)];
    good = pivot > std::numeric_limits<typename lane::lane_traits<T>::scalar>::epsilon() * diagonal && good;
    a[packed_index(i, i)] = 1 / lane::sqrt(pivot);
  }
  return good;
}

/// Solves A x = b with the factor of cholesky_factor; `x` contains b on entry.
template <int N, class T>
VOXHERD_FUNCTION inline void cholesky_solve(const T (&factor)[packed_size(N)], T (&x)[N]) {
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= factor[packed_index(i, k)] * x[k];
    x[i] *= factor[packed_index(i, i)];
  }
  for (int i = N - 1; i >= 0; --i) {
    for (int k = i + 1; k < N; ++k) x[i] -= factor[packed_index(k, i)] * x[k];
    x[i] *= factor[packed_index(i, i)];
  }
}

}  // namespace voxherd
