#include <algorithm>
#include <cmath>

#include "tests/ballstick/reference/ballstick_reference.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {
namespace {

/// A larger S0 is not a plausible signal (e^23 = 1e10).
constexpr double max_log_s0 = 23;

/// Least squares of log signals on (-Dxx, -Dxy, ..., -Dzz, log S0); the result contains the six tensor elements and log
/// S0.
std::vector<double> log_linear_fit(const gradient_table& g, const std::vector<double>& log_signal) {
  const double max_b = *std::max_element(g.b_s_per_mm2.begin(), g.b_s_per_mm2.end());
  const double unit = max_b > 0 ? max_b : 1;  // scales the columns to the same size
  square_matrix normal(7);
  std::vector<double> right(7, 0.0);
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double b = g.b_s_per_mm2[i] / unit;
    const double row[7] = {-b * g.x[i] * g.x[i],
                           -2 * b * g.x[i] * g.y[i],
                           -2 * b * g.x[i] * g.z[i],
                           -b * g.y[i] * g.y[i],
                           -2 * b * g.y[i] * g.z[i],
                           -b * g.z[i] * g.z[i],
                           1};
    for (int p = 0; p < 7; ++p) {
      right[p] += row[p] * log_signal[i];
      for (int q = 0; q < 7; ++q) normal(p, q) += row[p] * row[q];
    }
  }
  std::vector<double> x = solve_minimum_norm(normal, right);
  for (int p = 0; p < 6; ++p) x[p] /= unit;
  return x;
}

double bounded_s0(double log_s0, double largest) { return log_s0 < max_log_s0 ? std::exp(log_s0) : largest; }

}  // namespace

tensor_start start_from_tensor(const gradient_table& gradients, const std::vector<double>& measured) {
  double mean = 0, largest = 0;
  for (const double y : measured) {
    mean += y / static_cast<double>(measured.size());
    largest = std::max(largest, std::abs(y));
  }
  std::vector<double> log_signal(measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i) log_signal[i] = measured[i] > 0 ? std::log(measured[i]) : 0;

  tensor_start result;
  result.s0 = bounded_s0(log_linear_fit(gradients, log_signal)[6], largest);
  if (result.s0 < mean) result.s0 = largest;
  for (std::size_t i = 0; i < measured.size(); ++i)
    log_signal[i] = std::log(std::max(measured[i] / result.s0, 0.01) * result.s0);
  const std::vector<double> x = log_linear_fit(gradients, log_signal);
  result.s0 = bounded_s0(x[6], largest);
  if (result.s0 < mean) result.s0 = mean;

  square_matrix tensor(3);
  const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) tensor(row, column) = x[place[row][column]];
  const eigen_system e = jacobi_eigen(tensor);
  for (int k = 0; k < 3; ++k)
    for (int axis = 0; axis < 3; ++axis) result.eigenvectors[k][axis] = e.vectors(axis, k);
  result.largest_eigenvalue = e.values[0];
  result.mean_diffusivity = (e.values[0] + e.values[1] + e.values[2]) / 3;
  double spread = 0, size = 0;
  for (int k = 0; k < 3; ++k) {
    spread += std::pow(e.values[k] - result.mean_diffusivity, 2);
    size += e.values[k] * e.values[k];
  }
  result.fractional_anisotropy = size > 0 ? std::sqrt(1.5 * spread / size) : 0;
  return result;
}

}  // namespace voxherd::reference
