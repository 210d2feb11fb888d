#include "tests/reference/tensor_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace voxherd::reference {

namespace {

using real = long double;
using row7 = std::array<real, 7>;

row7 solve_by_elimination(std::array<row7, 7> a, row7 right) {
  for (std::size_t i = 0; i < 7; ++i) {
    std::size_t best = i;
    for (std::size_t r = i + 1; r < 7; ++r)
      if (std::fabs(a[r][i]) > std::fabs(a[best][i])) best = r;
    std::swap(a[i], a[best]);
    std::swap(right[i], right[best]);
    for (std::size_t r = i + 1; r < 7; ++r) {
      const real factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < 7; ++c) a[r][c] -= factor * a[i][c];
      right[r] -= factor * right[i];
    }
  }
  row7 x{};
  for (std::size_t i = 7; i-- > 0;) {
    x[i] = right[i];
    for (std::size_t c = i + 1; c < 7; ++c) x[i] -= a[i][c] * x[c];
    x[i] /= a[i][i];
  }
  return x;
}

row7 weighted_fit(const std::vector<row7>& design, const std::vector<real>& logs, const std::vector<real>& weights) {
  std::array<row7, 7> normal{};
  row7 right{};
  for (std::size_t k = 0; k < design.size(); ++k)
    for (std::size_t i = 0; i < 7; ++i) {
      right[i] += weights[k] * design[k][i] * logs[k];
      for (std::size_t j = 0; j < 7; ++j) normal[i][j] += weights[k] * design[k][i] * design[k][j];
    }
  return solve_by_elimination(normal, right);
}

/// b in ms/um2 and D in um2/ms here, so that all columns are of one size.
row7 design_row(const gradient_table& g, std::size_t k, const std::array<double, 9>& deviation) {
  const real direction[3] = {g.x[k], g.y[k], g.z[k]};
  real v[3];
  for (std::size_t i = 0; i < 3; ++i) {
    v[i] = direction[i];
    for (std::size_t j = 0; j < 3; ++j) v[i] += real(deviation[3 * j + i]) * direction[j];
  }
  const real b = real(g.b_s_per_mm2[k]) / 1000;
  return {-b * v[0] * v[0],
          -2 * b * v[0] * v[1],
          -2 * b * v[0] * v[2],
          -b * v[1] * v[1],
          -2 * b * v[1] * v[2],
          -b * v[2] * v[2],
          1};
}

real predicted_log(const row7& design, const row7& p) {
  real sum = 0;
  for (std::size_t i = 0; i < 7; ++i) sum += design[i] * p[i];
  return sum;
}

/// Closed formula: O. K. Smith, Commun. ACM 4:168, 1961.
std::array<double, 3> eigenvalues_of(const std::array<double, 6>& d) {
  const real q = (real(d[0]) + d[3] + d[5]) / 3;
  const real xx = d[0] - q, yy = d[3] - q, zz = d[5] - q, xy = d[1], xz = d[2], yz = d[4];
  const real p = std::sqrt((xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz)) / 6);
  if (p == 0) return {double(q), double(q), double(q)};
  const real determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  const real r = std::clamp(determinant / (2 * p * p * p), real(-1), real(1));
  const real phi = std::acos(r) / 3;
  const real first = q + 2 * p * std::cos(phi);
  const real last = q + 2 * p * std::cos(phi + 2 * std::numbers::pi_v<real> / 3);
  return {double(first), double(3 * q - first - last), double(last)};
}

voxel_status status_of(std::span<const float> signals) {
  if (!std::all_of(signals.begin(), signals.end(), [](float y) { return std::isfinite(y); }))
    return voxel_status::not_finite;
  const auto [low, high] = std::minmax_element(signals.begin(), signals.end());
  if (*low == *high) return *low == 0 ? voxel_status::all_zero : voxel_status::constant;
  const auto positive = std::count_if(signals.begin(), signals.end(), [](float y) { return y > 0; });
  return positive < 7 ? voxel_status::too_few_positive : voxel_status::fitted;
}

}  // namespace

double tensor_signal(const gradient_table& g, std::size_t k, const std::array<double, 6>& tensor, double S0,
                     const std::array<double, 9>& deviation) {
  row7 p{};
  for (std::size_t i = 0; i < 6; ++i) p[i] = 1000 * real(tensor[i]);
  return double(S0 * std::exp(predicted_log(design_row(g, k, deviation), p)));
}

tensor_voxel fit_tensor(const gradient_table& g, std::span<const float> row, const tensor_settings& settings) {
  const std::size_t count = g.size();
  const auto signals = row.first(count);
  tensor_voxel result;
  result.status = status_of(signals);
  if (result.status != voxel_status::fitted) return result;

  std::array<double, 9> deviation{};
  if (settings.gradient_deviation) std::copy_n(row.begin() + std::ptrdiff_t(count), 9, deviation.begin());
  const real floor = 1e-6L * *std::max_element(signals.begin(), signals.end());
  std::vector<row7> design(count);
  std::vector<real> logs(count), weights(count);
  for (std::size_t k = 0; k < count; ++k) {
    const real s = std::max(real(signals[k]), floor);
    design[k] = design_row(g, k, deviation);
    logs[k] = std::log(s);
    weights[k] = settings.weighting == tensor_weighting::ordinary ? 1 : s * s;
  }
  row7 p = weighted_fit(design, logs, weights);
  for (int i = 0; settings.weighting == tensor_weighting::iterated && i < settings.iterations; ++i) {
    for (std::size_t k = 0; k < count; ++k) weights[k] = std::exp(2 * predicted_log(design[k], p));
    p = weighted_fit(design, logs, weights);
  }

  real squares = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const real difference = signals[k] - std::exp(predicted_log(design[k], p));
    squares += difference * difference;
  }
  result.residual = double(std::sqrt(squares / real(count)));
  result.S0 = double(std::exp(p[6]));
  if (!(result.residual <= *std::max_element(signals.begin(), signals.end()))) {
    result = {};
    result.status = voxel_status::diverged;
    return result;
  }
  for (std::size_t i = 0; i < 6; ++i) result.tensor[i] = double(p[i] / 1000);
  result.eigenvalues = eigenvalues_of(result.tensor);
  const auto& l = result.eigenvalues;
  const double mean = (l[0] + l[1] + l[2]) / 3;
  const double spread = (l[0] - mean) * (l[0] - mean) + (l[1] - mean) * (l[1] - mean) + (l[2] - mean) * (l[2] - mean);
  result.FA = std::sqrt(1.5 * spread / (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]));
  return result;
}

}  // namespace voxherd::reference
