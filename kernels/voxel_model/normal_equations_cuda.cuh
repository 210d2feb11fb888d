#pragma once

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/cuda_team.cuh"
#include "kernels/voxel_model/normal_equations.hpp"

namespace voxherd::voxel_model {

/// The counterpart of cpu_gram for a complete warp: the lanes write their rows to shared memory, and each lane sums its
/// elements of the triangle over them. No atomics: every sum has a fixed order.
template <int N>
class cuda_gram {
 public:
  using team = cuda_team<double, 32>;
  static constexpr int lanes = 32;
  static constexpr int elements_per_lane = (packed_size(N) + lanes - 1) / lanes;
  /// An odd stride spreads a column over the banks.
  static constexpr int stride = N | 1;
  static constexpr int shared_doubles = lanes * stride;

  /// `rows`: shared_doubles numbers that only this warp uses.
  __device__ cuda_gram(const team& t, double* rows) : team_(t), rows_(rows) {
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) {
      const int element = t.lane + lanes * e;
      int row = 0;
      while (packed_index(row + 1, 0) <= element) ++row;
      const bool used = element < packed_size(N);
      row_[e] = used ? row : 0;
      column_[e] = used ? element - packed_index(row, 0) : 0;
    }
  }

  __device__ void clear() {
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) sums_[e] = 0;
  }

  __device__ void add(const double (&row)[N]) {
    team_.sync();
#pragma unroll
    for (int i = 0; i < N; ++i) rows_[team_.lane * stride + i] = row[i];
    team_.sync();
#pragma unroll 8
    for (int l = 0; l < lanes; ++l) {
      const double* other = rows_ + l * stride;
#pragma unroll
      for (int e = 0; e < elements_per_lane; ++e) sums_[e] += other[row_[e]] * other[column_[e]];
    }
  }

  __device__ void finish(const team& t, double* packed) const {
    t.sync();
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) {
      const int element = t.lane + lanes * e;
      if (element < packed_size(N)) packed[element] = sums_[e];
    }
    t.sync();
  }

 private:
  team team_;
  double* rows_;
  int row_[elements_per_lane], column_[elements_per_lane];
  double sums_[elements_per_lane];
};

template <int N>
struct gram_of<cuda_team<double, 32>, N> {
  using type = cuda_gram<N>;
  static constexpr int shared_doubles = cuda_gram<N>::shared_doubles;
};

/// Solves the equations by Gauss-Jordan elimination in shared memory, some elements per lane: N steps of a few
/// instructions, where in a factorisation most lanes would wait for one. Positive definite systems need no pivoting.
template <int N>
struct solver_of<cuda_team<double, 32>, N> {
  static constexpr int stride = N + 1;  ///< the right side is the last column
  static constexpr int shared_doubles = N * stride;
  static constexpr int lanes = 32;
  static constexpr int elements_per_lane = (shared_doubles + lanes - 1) / lanes;

  template <class Matrix, class Right>
  __device__ static bool solve(const cuda_team<double, 32>& team, double* a, const Matrix& matrix, const Right& right,
                               double* x) {
    team.share(shared_doubles, [&](int e) {
      const int i = e / stride, j = e % stride;
      a[e] = j < N ? matrix(i, j) : right(i);
    });
    team.sync();
    constexpr double rounding = 2.2e-16;
    for (int j = 0; j < N; ++j) {
      const double pivot = a[j * stride + j];
      if (!(pivot > rounding * matrix(j, j))) return false;
      const double inverse = reciprocal(pivot);
#pragma unroll
      for (int t = 0; t < elements_per_lane; ++t) {
        const int e = team.lane + lanes * t;
        const int i = e / stride, k = e % stride;
        if (e < shared_doubles && i != j && k > j) a[e] -= a[i * stride + j] * inverse * a[j * stride + k];
      }
      team.sync();
    }
    team.share(N, [&](int i) { x[i] = a[i * stride + N] / a[i * stride + i]; });
    team.sync();
    return true;
  }

 private:
  /// From the single-precision reciprocal by two Newton steps, to 2^-48: a quarter of the division's latency.
  __device__ static double reciprocal(double x) {
    double y = __frcp_rn(static_cast<float>(x));
    y *= 2 - x * y;
    return y * (2 - x * y);
  }
};

}  // namespace voxherd::voxel_model
