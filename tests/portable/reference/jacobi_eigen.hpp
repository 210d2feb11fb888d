#pragma once

#include <cstddef>
#include <vector>

namespace voxherd::reference {

/// A dense n x n matrix, row-major.
struct square_matrix {
  explicit square_matrix(std::size_t size) : n(size), values(size * size, 0.0) {}
  double& operator()(std::size_t row, std::size_t column) { return values[row * n + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * n + column]; }
  std::size_t n;
  std::vector<double> values;
};

/// Eigenvalues in descending order; column k of `vectors` belongs to values[k].
struct eigen_system {
  std::vector<double> values;
  square_matrix vectors;
};

/// Cyclic Jacobi rotations (Golub & Van Loan, section 8.5) on a symmetric matrix.
eigen_system jacobi_eigen(square_matrix a);

/// Minimum-norm solution of the symmetric positive semi-definite system a x = y: eigenvalues below `tolerance` times
/// the largest count as zero.
std::vector<double> solve_minimum_norm(const square_matrix& a, const std::vector<double>& y, double tolerance = 1e-12);

/// Gaussian elimination with partial pivoting. Returns false, x untouched, when a pivot is zero or not finite.
bool solve_linear(square_matrix a, std::vector<double> y, std::vector<double>& x);

}  // namespace voxherd::reference
