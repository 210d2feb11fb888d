#include "tests/tensor/reference/tensor_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/portable/draws.hpp"

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

/// Here b is in ms/um2 and D in um2/ms, so that all columns have similar sizes.
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

namespace {

/// The equations of one voxel and their solution.
struct logarithmic_fit {
  std::vector<row7> design;
  std::vector<real> logs, weights;
  std::vector<bool> at_floor;
  real largest = 0;
  row7 p{};
};

logarithmic_fit make_equations(const gradient_table& g, std::span<const float> row, const tensor_settings& settings) {
  const std::size_t count = g.size();
  std::array<double, 9> deviation{};
  if (settings.gradient_deviation) std::copy_n(row.begin() + std::ptrdiff_t(count), 9, deviation.begin());
  logarithmic_fit f;
  f.largest = *std::max_element(row.begin(), row.begin() + std::ptrdiff_t(count));
  for (std::size_t k = 0; k < count; ++k) {
    f.design.push_back(design_row(g, k, deviation));
    f.at_floor.push_back(row[k] <= 1e-6L * f.largest);
    f.logs.push_back(std::log(std::max(real(row[k]), 1e-6L * f.largest)));
  }
  return f;
}

void weigh_by(const std::vector<real>& log_signals, const tensor_settings& settings, logarithmic_fit& f) {
  f.weights.assign(f.logs.size(), 1);
  if (settings.weighting == tensor_weighting::ordinary) return;
  for (std::size_t k = 0; k < f.logs.size(); ++k) f.weights[k] = std::exp(2 * log_signals[k]);
}

std::vector<real> predicted_logs(const logarithmic_fit& f, const row7& p) {
  std::vector<real> logs;
  for (const row7& x : f.design) logs.push_back(predicted_log(x, p));
  return logs;
}

/// Fits with the weights `first`, then `refits` times with the weights of the previous fit.
void fit_again_and_again(const std::vector<real>& first, int refits, const tensor_settings& settings,
                         logarithmic_fit& f) {
  weigh_by(first, settings, f);
  f.p = weighted_fit(f.design, f.logs, f.weights);
  for (int i = 0; i < refits; ++i) {
    weigh_by(predicted_logs(f, f.p), settings, f);
    f.p = weighted_fit(f.design, f.logs, f.weights);
  }
}

int refit_count(const tensor_settings& settings) {
  return settings.weighting == tensor_weighting::iterated ? settings.iterations : 0;
}

void describe(const row7& p, tensor_voxel& result) {
  result.S0 = double(std::exp(p[6]));
  for (std::size_t i = 0; i < 6; ++i) result.tensor[i] = double(p[i] / 1000);
  result.eigenvalues = eigenvalues_of(result.tensor);
  const auto& l = result.eigenvalues;
  const double mean = (l[0] + l[1] + l[2]) / 3;
  const double spread = (l[0] - mean) * (l[0] - mean) + (l[1] - mean) * (l[1] - mean) + (l[2] - mean) * (l[2] - mean);
  result.FA = std::sqrt(1.5 * spread / (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]));
}

/// w_k x_k . (X^T W X)^-1 x_k: element k of the hat matrix's diagonal.
real leverage(const logarithmic_fit& f, std::size_t k) {
  std::vector<real> unit(f.logs.size(), 0);
  unit[k] = 1;
  return predicted_log(f.design[k], weighted_fit(f.design, unit, f.weights));
}

bool is_turned(std::uint64_t seed, std::uint64_t voxel, std::uint64_t replicate, std::size_t k) {
  const auto words = draw_words(seed, voxel, replicate + (std::uint64_t{k / 128} << 32));
  return (words.v[k % 128 / 32] >> (k % 32)) % 2 == 1;
}

}  // namespace

tensor_voxel fit_tensor(const gradient_table& g, std::span<const float> row, const tensor_settings& settings) {
  const auto signals = row.first(g.size());
  tensor_voxel result;
  result.status = status_of(signals);
  if (result.status != voxel_status::fitted) return result;

  logarithmic_fit f = make_equations(g, row, settings);
  fit_again_and_again(f.logs, refit_count(settings), settings, f);
  real squares = 0;
  for (std::size_t k = 0; k < g.size(); ++k) {
    const real difference = signals[k] - std::exp(predicted_log(f.design[k], f.p));
    squares += difference * difference;
  }
  result.residual = double(std::sqrt(squares / real(g.size())));
  if (!(result.residual <= f.largest)) {
    result = {};
    result.status = voxel_status::diverged;
    return result;
  }
  describe(f.p, result);
  return result;
}

tensor_voxel refit_tensor(const gradient_table& g, std::span<const float> row, const bootstrap_settings& settings,
                          std::uint64_t voxel, std::uint64_t replicate) {
  tensor_voxel result = fit_tensor(g, row, settings.tensor);
  if (result.status != voxel_status::fitted || replicate == 0) return result;

  logarithmic_fit f = make_equations(g, row, settings.tensor);
  fit_again_and_again(f.logs, refit_count(settings.tensor), settings.tensor, f);
  const std::vector<real> fitted = predicted_logs(f, f.p);
  logarithmic_fit again = f;
  for (std::size_t k = 0; k < g.size(); ++k) {
    const real residual = f.at_floor[k] ? 0 : (f.logs[k] - fitted[k]) / std::sqrt(1 - leverage(f, k));
    again.logs[k] = fitted[k] + (is_turned(settings.seed, voxel, replicate, k) ? -residual : residual);
  }
  const bool iterated = settings.tensor.weighting == tensor_weighting::iterated;
  fit_again_and_again(iterated ? fitted : again.logs, iterated ? std::max(settings.tensor.iterations, 1) - 1 : 0,
                      settings.tensor, again);
  result = {};
  for (const real y : predicted_logs(again, again.p))
    if (!(y < std::log(10 * f.largest))) result.status = voxel_status::diverged;
  if (result.status == voxel_status::fitted) describe(again.p, result);
  return result;
}

}  // namespace voxherd::reference
