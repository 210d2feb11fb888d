#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "tests/ballstick/reference/ballstick_reference.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {
namespace {

constexpr double small_fraction = 0.001;

/// The free parameters of the optimiser and their meaning.
using meaning = std::function<ballstick_parameters(const std::vector<double>&)>;
using predictor = std::function<std::vector<double>(const std::vector<double>&)>;

/// Columns of derivatives by central differences.
std::vector<std::vector<double>> jacobian(const predictor& predict, std::vector<double> x) {
  std::vector<std::vector<double>> columns;
  for (double& value : x) {
    const double kept = value, step = 1e-5 * std::abs(kept) + 1e-8;
    value = kept + step;
    std::vector<double> column = predict(x);
    value = kept - step;
    const std::vector<double> below = predict(x);
    value = kept;
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = (column[i] - below[i]) / (2 * step);
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Levenberg 1944: (H + lambda 1) step = -g with H = 2 J^T J, g = -2 J^T (measured - predicted).
/// Returns the sum of squares reached; x is moved there.
double minimise(const predictor& predict, const std::vector<double>& measured, std::vector<double>& x) {
  double cost = sum_of_squares(measured, predict(x)), lambda = 0.1;
  for (int successes = 0; successes < 200 && lambda <= 1e20;) {
    const std::vector<double> predicted = predict(x);
    const auto columns = jacobian(predict, x);
    square_matrix hessian(x.size());
    std::vector<double> downhill(x.size(), 0.0);
    for (std::size_t p = 0; p < x.size(); ++p)
      for (std::size_t i = 0; i < measured.size(); ++i) {
        downhill[p] += 2 * columns[p][i] * (measured[i] - predicted[i]);
        for (std::size_t q = 0; q < x.size(); ++q) hessian(p, q) += 2 * columns[p][i] * columns[q][i];
      }
    bool lower = false;
    for (; !lower && lambda <= 1e20; lambda *= lower ? 0.1 : 10) {
      square_matrix damped = hessian;
      for (std::size_t p = 0; p < x.size(); ++p) damped(p, p) += lambda;
      std::vector<double> next(x.size());
      if (!solve_linear(damped, downhill, next)) continue;
      for (std::size_t p = 0; p < x.size(); ++p) next[p] += x[p];
      const double next_cost = sum_of_squares(measured, predict(next));
      if (!(next_cost < cost)) continue;
      lower = true;
      const bool settled = 2 * (cost - next_cost) <= 1e-8 * (cost + next_cost + 2e-16);
      x = next;
      cost = next_cost;
      if (settled) return cost;
    }
    ++successes;
  }
  return cost;
}

ballstick_fit fit_from(const ballstick_settings& settings, const gradient_table& gradients,
                       const std::vector<double>& measured, const meaning& stands_for, std::vector<double> x) {
  const auto predict = [&](const std::vector<double>& free) {
    return ballstick_signals(settings, stands_for(free), gradients);
  };
  ballstick_fit result;
  result.sum_of_squares = minimise(predict, measured, x);
  result.parameters = stands_for(x);
  return result;
}

/// Both angles as returned by cart2sph: th in [0, pi], ph in (-pi, pi].
void set_direction(ballstick_parameters& p, int fibre, const std::array<double, 3>& v) {
  p.th[fibre] = std::acos(std::clamp(v[2], -1.0, 1.0));
  p.ph[fibre] = std::atan2(v[1], v[0]);
}

void sort_fibres(ballstick_parameters& p, int fibres) {
  std::array<int, max_fibres> order{0, 1, 2, 3};
  std::stable_sort(order.begin(), order.begin() + fibres, [&](int i, int j) { return p.f[i] > p.f[j]; });
  const ballstick_parameters before = p;
  for (int k = 0; k < fibres; ++k) {
    p.f[k] = before.f[order[k]];
    p.th[k] = before.th[order[k]];
    p.ph[k] = before.ph[order[k]];
  }
}

/// From the first fibre at which the running sum reaches 1, fractions are set to a small value.
void keep_sum_below_one(ballstick_parameters& p, int fibres, double sum) {
  bool full = false;
  for (int k = 0; k < fibres; ++k) {
    sum += p.f[k];
    full = full || sum >= 1;
    if (full) p.f[k] = small_fraction;
  }
}

/// Linear least squares of measured - S0 ball on S0 (stick_k - ball), given diffusivity and directions.
void start_fractions(const ballstick_settings& settings, const gradient_table& gradients,
                     const std::vector<double>& measured, ballstick_parameters& p) {
  ballstick_settings plain = settings;
  plain.unattenuated = false;
  p.f.fill(0);
  const std::vector<double> ball = ballstick_signals(plain, p, gradients);
  std::vector<std::vector<double>> columns;
  for (int k = 0; k < settings.fibres; ++k) {
    p.f[k] = 1;
    columns.push_back(ballstick_signals(plain, p, gradients));
    p.f[k] = 0;
  }
  square_matrix normal(columns.size());
  std::vector<double> right(columns.size(), 0.0);
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (std::size_t k = 0; k < columns.size(); ++k) {
      right[k] += (columns[k][i] - ball[i]) * (measured[i] - ball[i]);
      for (std::size_t j = 0; j < columns.size(); ++j)
        normal(k, j) += (columns[k][i] - ball[i]) * (columns[j][i] - ball[i]);
    }
  const std::vector<double> f = solve_minimum_norm(normal, right, 1e-20);
  for (int k = 0; k < settings.fibres; ++k) p.f[k] = f[k];
  if (settings.unattenuated) {
    p.f0 = small_fraction;
    p.f[0] -= small_fraction;
  }
  for (double& fraction : p.f) fraction = std::abs(fraction);
  keep_sum_below_one(p, settings.fibres, 0);
}

double angle_of_share(double fraction, double left) {
  return std::asin(std::sqrt(std::clamp(fraction / left, 0.0, 1.0)));
}

ballstick_fit fit_constrained(const ballstick_settings& settings, const gradient_table& gradients,
                              const std::vector<double>& measured) {
  const tensor_start tensor = start_from_tensor(gradients, measured);
  ballstick_parameters start;
  start.s0 = tensor.s0;
  start.d = tensor.largest_eigenvalue > 0 ? tensor.largest_eigenvalue : 0.002;
  for (int k = 0; k < settings.fibres; ++k) set_direction(start, k, tensor.eigenvectors[std::min(k, 2)]);
  start_fractions(settings, gradients, measured, start);

  std::vector<double> x{start.s0, std::sqrt(start.d)};
  double left = 1;
  for (int k = 0; k < settings.fibres; ++k) {
    x.insert(x.end(), {angle_of_share(start.f[k], left), start.th[k], start.ph[k]});
    left -= start.f[k];
  }
  if (settings.unattenuated) x.push_back(angle_of_share(start.f0, left));

  const auto stands_for = [&](const std::vector<double>& free) {
    ballstick_parameters p;
    p.s0 = free[0];
    p.d = free[1] * free[1];
    double remaining = 1;
    for (int k = 0; k < settings.fibres; ++k) {
      p.f[k] = remaining * std::pow(std::sin(free[2 + 3 * k]), 2);
      p.th[k] = free[3 + 3 * k];
      p.ph[k] = free[4 + 3 * k];
      remaining -= p.f[k];
    }
    if (settings.unattenuated) p.f0 = remaining * std::pow(std::sin(free.back()), 2);
    return p;
  };
  return fit_from(settings, gradients, measured, stands_for, x);
}

double to_fraction(double x) { return std::abs(2 / std::numbers::pi * std::atan(x)); }
double from_fraction(double fraction) { return std::tan(std::numbers::pi / 2 * fraction); }

/// The last part of the parameter vector, the same for model 1's old parametrisation and for models 2 and 3.
void append_fibres(const ballstick_settings& settings, const ballstick_parameters& p, std::vector<double>& x) {
  for (int k = 0; k < settings.fibres; ++k) x.insert(x.end(), {from_fraction(p.f[k]), p.th[k], p.ph[k]});
  if (settings.unattenuated) x.push_back(from_fraction(p.f0));
}

void read_fibres(const ballstick_settings& settings, const std::vector<double>& x, std::size_t first,
                 ballstick_parameters& p) {
  for (int k = 0; k < settings.fibres; ++k) {
    p.f[k] = to_fraction(x[first + 3 * k]);
    p.th[k] = x[first + 1 + 3 * k];
    p.ph[k] = x[first + 2 + 3 * k];
  }
  if (settings.unattenuated) p.f0 = to_fraction(x.back());
}

void sort_and_bound(const ballstick_settings& settings, ballstick_parameters& p) {
  sort_fibres(p, settings.fibres);
  for (int k = 0; k < settings.fibres; ++k)
    if (p.f[k] <= 0) p.f[k] = small_fraction;
  keep_sum_below_one(p, settings.fibres, settings.unattenuated ? p.f0 : 0);
}

ballstick_fit fit_unconstrained(ballstick_settings settings, const gradient_table& gradients,
                                const std::vector<double>& measured) {
  settings.model = 1;
  const tensor_start tensor = start_from_tensor(gradients, measured);
  ballstick_parameters start;
  start.s0 = tensor.s0;
  start.d = tensor.mean_diffusivity > 0 ? 2 * tensor.mean_diffusivity : 0.001;
  start.f0 = small_fraction;
  start.f[0] = tensor.fractional_anisotropy < 1 ? tensor.fractional_anisotropy : 0.95;
  double sum = start.f[0];
  for (int k = 0; k < settings.fibres; ++k) {
    set_direction(start, k, tensor.eigenvectors[std::min(k, 2)]);
    if (k == 0) continue;
    double divisor = 2;
    while (sum + start.f[k - 1] / divisor >= 1) divisor *= 2;
    start.f[k] = start.f[k - 1] / divisor;
    sum += start.f[k];
  }
  std::vector<double> x{start.s0, start.d};
  append_fibres(settings, start, x);
  const auto stands_for = [&](const std::vector<double>& free) {
    ballstick_parameters p;
    p.s0 = free[0];
    p.d = std::abs(free[1]);
    read_fibres(settings, free, 2, p);
    return p;
  };
  ballstick_fit result = fit_from(settings, gradients, measured, stands_for, x);
  sort_and_bound(settings, result.parameters);
  return result;
}

/// Models 2 and 3: the Gamma distribution's shape a and scale b are free; d = a b, d_std = sqrt(a) b.
ballstick_fit fit_gamma(const ballstick_settings& settings, const gradient_table& gradients,
                        const std::vector<double>& measured) {
  const ballstick_parameters start = fit_unconstrained(settings, gradients, measured).parameters;
  std::vector<double> x{start.s0, 1, start.d};
  append_fibres(settings, start, x);
  const auto stands_for = [&](const std::vector<double>& free) {
    ballstick_parameters p;
    p.s0 = std::abs(free[0]);
    p.d = std::abs(free[1] * free[2]);
    p.d_std = std::sqrt(std::abs(free[1])) * std::abs(free[2]);
    p.ratio = settings.ratio_mean;
    read_fibres(settings, free, 3, p);
    return p;
  };
  ballstick_fit result = fit_from(settings, gradients, measured, stands_for, x);
  sort_and_bound(settings, result.parameters);
  return result;
}

ballstick_fit fit_once(const ballstick_settings& settings, const gradient_table& gradients,
                       const std::vector<double>& measured) {
  if (settings.model != 1) return fit_gamma(settings, gradients, measured);
  if (!settings.constrained_fit) return fit_unconstrained(settings, gradients, measured);
  return fit_constrained(settings, gradients, measured);
}

double variance_of_residuals(const std::vector<double>& measured, const std::vector<double>& predicted) {
  const double n = static_cast<double>(measured.size());
  double mean = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) mean += (measured[i] - predicted[i]) / n;
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) sum += std::pow(measured[i] - predicted[i] - mean, 2);
  return sum / (n - 1);
}

}  // namespace

ballstick_fit fit_ballstick(const ballstick_settings& settings, const gradient_table& gradients,
                            const std::vector<double>& measured) {
  ballstick_fit result = fit_once(settings, gradients, measured);
  ballstick_parameters& p = result.parameters;
  sort_fibres(p, settings.fibres);
  ballstick_settings fitted = settings;
  if (settings.unattenuated && (p.f[0] < 0.05 || p.d > 0.007 || p.f0 > 0.4)) {
    fitted.unattenuated = false;
    result = fit_once(fitted, gradients, measured);
    p.f0 = small_fraction;
  }
  p.tau = 1 / variance_of_residuals(measured, ballstick_signals(fitted, p, gradients));
  sort_and_bound(settings, p);
  if (p.d < 0 || p.d > 0.005) p.d = 0.002;
  if (settings.model >= 2 && (p.d_std <= 0 || p.d_std > (settings.model == 3 ? 0.004 : 0.01))) p.d_std = p.d / 10;
  p.ratio = settings.ratio_mean;
  return result;
}

}  // namespace voxherd::reference
