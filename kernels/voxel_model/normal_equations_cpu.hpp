#pragma once

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/cpu_team.hpp"
#include "kernels/voxel_model/normal_equations.hpp"

namespace voxherd::voxel_model {

/// Sums r r^T over rows of N numbers, one row per measurement, packed lower triangle. One SIMD register per element, so
/// that every sum has a fixed order.
template <int N>
class cpu_gram {
 public:
  using team = cpu_team<double>;
  using real = team::real;

  cpu_gram(const team&, double* /*rows*/) {}

  void clear() {
    for (real& s : sums_) s = real(0.0);
  }

  void add(const real (&row)[N]) {
#pragma GCC unroll 20
    for (int i = 0; i < N; ++i)
#pragma GCC unroll 20
      for (int j = 0; j <= i; ++j) sums_[packed_index(i, j)] += row[i] * row[j];
  }

  /// Writes the triangle to `packed`, visible to all lanes.
  void finish(const team& t, double* packed) const {
    for (int e = 0; e < packed_size(N); ++e) packed[e] = t.sum(sums_[e]);
  }

 private:
  real sums_[packed_size(N)];
};

template <int N>
struct gram_of<cpu_team<double>, N> {
  using type = cpu_gram<N>;
  static constexpr int shared_doubles = 0;
};

/// Solves the equations by Cholesky factors.
template <int N>
struct solver_of<cpu_team<double>, N> {
  static constexpr int shared_doubles = packed_size(N);

  template <class Matrix, class Right>
  static bool solve(const cpu_team<double>&, double* memory, const Matrix& matrix, const Right& right, double* x) {
    auto& factor = *reinterpret_cast<double(*)[packed_size(N)]>(memory);
    auto& solution = *reinterpret_cast<double(*)[N]>(x);
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j <= i; ++j) factor[packed_index(i, j)] = matrix(i, j);
      solution[i] = right(i);
    }
    if (!cholesky_factor<N>(factor)) return false;
    cholesky_solve<N>(factor, solution);
    return true;
  }
};

}  // namespace voxherd::voxel_model
