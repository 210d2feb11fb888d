#include "tests/portable/reference/jacobi_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace voxherd::reference {
namespace {

/// Angle that zeroes a(p, q): tan(2 angle) = 2 a_pq / (a_pp - a_qq).
void rotate(square_matrix& a, square_matrix& v, std::size_t p, std::size_t q) {
  const double angle = 0.5 * std::atan2(2 * a(p, q), a(p, p) - a(q, q));
  const double c = std::cos(angle), s = std::sin(angle);
  for (std::size_t k = 0; k < a.n; ++k) {
    const double kp = a(k, p), kq = a(k, q);
    a(k, p) = c * kp + s * kq;
    a(k, q) = c * kq - s * kp;
  }
  for (std::size_t k = 0; k < a.n; ++k) {
    const double pk = a(p, k), qk = a(q, k);
    a(p, k) = c * pk + s * qk;
    a(q, k) = c * qk - s * pk;
    const double vp = v(k, p), vq = v(k, q);
    v(k, p) = c * vp + s * vq;
    v(k, q) = c * vq - s * vp;
  }
}

}  // namespace

eigen_system jacobi_eigen(square_matrix a) {
  square_matrix v(a.n);
  for (std::size_t i = 0; i < a.n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < a.n; ++p)
      for (std::size_t q = p + 1; q < a.n; ++q) rotate(a, v, p, q);
  std::vector<std::size_t> order(a.n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a(i, i) > a(j, j); });
  eigen_system result{std::vector<double>(a.n), square_matrix(a.n)};
  for (std::size_t k = 0; k < a.n; ++k) {
    result.values[k] = a(order[k], order[k]);
    for (std::size_t i = 0; i < a.n; ++i) result.vectors(i, k) = v(i, order[k]);
  }
  return result;
}

std::vector<double> solve_minimum_norm(const square_matrix& a, const std::vector<double>& y, double tolerance) {
  const eigen_system e = jacobi_eigen(a);
  std::vector<double> x(a.n, 0.0);
  for (std::size_t k = 0; k < a.n; ++k) {
    if (!(e.values[k] > tolerance * e.values[0])) continue;
    double projection = 0;
    for (std::size_t i = 0; i < a.n; ++i) projection += e.vectors(i, k) * y[i];
    for (std::size_t i = 0; i < a.n; ++i) x[i] += e.vectors(i, k) * projection / e.values[k];
  }
  return x;
}

bool solve_linear(square_matrix a, std::vector<double> y, std::vector<double>& x) {
  for (std::size_t column = 0; column < a.n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < a.n; ++row)
      if (std::abs(a(row, column)) > std::abs(a(pivot, column))) pivot = row;
    const double size = std::abs(a(pivot, column));
    if (!(size > 0) || !std::isfinite(size)) return false;
    for (std::size_t k = 0; k < a.n; ++k) std::swap(a(column, k), a(pivot, k));
    std::swap(y[column], y[pivot]);
    for (std::size_t row = column + 1; row < a.n; ++row) {
      const double factor = a(row, column) / a(column, column);
      for (std::size_t k = column; k < a.n; ++k) a(row, k) -= factor * a(column, k);
      y[row] -= factor * y[column];
    }
  }
  for (std::size_t row = a.n; row-- > 0;) {
    for (std::size_t k = row + 1; k < a.n; ++k) y[row] -= a(row, k) * y[k];
    y[row] /= a(row, row);
  }
  x = y;
  return true;
}

}  // namespace voxherd::reference
