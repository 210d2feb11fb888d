#include "tests/ballstick/reference/ballstick_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace voxherd::reference {
namespace {

constexpr double outside = std::numeric_limits<double>::infinity();
constexpr double max_d = 0.005, min_d_std_for_gamma = 1e-5;

double max_d_std(int model) { return model == 3 ? 0.004 : 0.01; }

/// Mean of exp(-x D) over a Gamma distribution of D with mean d and standard deviation s.
double gamma_attenuation(double x, double d, double s) {
  if (s < min_d_std_for_gamma) return std::exp(-x * d);
  return std::exp(-d * d / (s * s) * std::log1p(x * s * s / d));
}

double fibre_attenuation(const ballstick_settings& settings, const ballstick_parameters& p, double b, double cosine2) {
  if (settings.model == 1) return std::exp(-b * p.d * cosine2);
  if (settings.model == 2) return gamma_attenuation(b * cosine2, p.d, p.d_std);
  return std::exp(-3 * b * p.d / (2 * p.ratio + 1) * ((1 - p.ratio) * cosine2 + p.ratio));
}

double fraction_sum(const ballstick_settings& settings, const ballstick_parameters& p) {
  double sum = settings.unattenuated ? p.f0 : 0;
  for (int k = 0; k < settings.fibres; ++k) sum += p.f[k];
  return sum;
}

double d_energy(const ballstick_settings& settings, double d) {
  if (d < 0 || d > max_d) return outside;
  return settings.model == 3 ? -2 * std::log(d) + 4000 * d : 0;
}

double d_std_energy(const ballstick_settings& settings, double s) {
  return s <= 0 || s > max_d_std(settings.model) ? outside : std::log(s);
}

double ratio_energy(const ballstick_settings& settings, double ratio) {
  const double lower = std::max(settings.ratio_mean - 2 * settings.ratio_std, 1e-8);
  const double upper = settings.ratio_mean > 0.5 ? 1 : 2 * settings.ratio_mean;
  if (ratio <= lower || ratio > upper) return outside;
  return std::pow((ratio - settings.ratio_mean) / settings.ratio_std, 2);
}

double polar_angle_energy(double th) { return th == 0 ? 0 : -std::log(std::abs(std::sin(th)) / 2); }

bool has_ard(const ballstick_settings& settings, int fibre) {
  if (settings.ard == ard_fibres::none) return false;
  return fibre > 0 || settings.ard == ard_fibres::all;
}

}  // namespace

double ballstick_signal(const ballstick_settings& settings, const ballstick_parameters& p, double b, double gx,
                        double gy, double gz) {
  const double ball = settings.model == 1 ? std::exp(-b * p.d) : gamma_attenuation(b, p.d, p.d_std);
  const double f0 = settings.unattenuated ? p.f0 : 0;
  double mixture = (1 - fraction_sum(settings, p)) * ball + f0;
  for (int k = 0; k < settings.fibres; ++k) {
    const double x = std::sin(p.th[k]) * std::cos(p.ph[k]);
    const double y = std::sin(p.th[k]) * std::sin(p.ph[k]);
    const double z = std::cos(p.th[k]);
    const double cosine = gx * x + gy * y + gz * z;
    mixture += p.f[k] * fibre_attenuation(settings, p, b, cosine * cosine);
  }
  return p.s0 * mixture;
}

std::vector<double> ballstick_signals(const ballstick_settings& settings, const ballstick_parameters& p,
                                      const gradient_table& gradients) {
  std::vector<double> signals(gradients.size());
  for (std::size_t i = 0; i < signals.size(); ++i)
    signals[i] =
        ballstick_signal(settings, p, gradients.b_s_per_mm2[i], gradients.x[i], gradients.y[i], gradients.z[i]);
  return signals;
}

double sum_of_squares(const std::vector<double>& measured, const std::vector<double>& predicted) {
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) sum += std::pow(measured[i] - predicted[i], 2);
  return sum;
}

double gaussian_energy(const std::vector<double>& measured, const std::vector<double>& predicted) {
  return 0.5 * static_cast<double>(measured.size()) * std::log(sum_of_squares(measured, predicted) / 2);
}

double log_bessel_i0(double x) {
  x = std::abs(x);
  const bool asymptotic = x > 30;
  double term = 1, sum = 1;
  for (int k = 1; k < 200; ++k) {
    // Abramowitz & Stegun 9.6.12 and 9.7.1.
    term *= asymptotic ? (2 * k - 1) * (2 * k - 1) / (8 * k * x) : x * x / (4.0 * k * k);
    if (asymptotic && k > 20) break;
    sum += term;
  }
  return asymptotic ? x - 0.5 * std::log(2 * std::numbers::pi * x) + std::log(sum) : std::log(sum);
}

double rician_energy(const std::vector<double>& measured, const std::vector<double>& predicted, double tau) {
  double energy = -static_cast<double>(measured.size()) * std::log(tau);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double y = measured[i], s = predicted[i];
    energy -= std::log(y) - tau / 2 * (y * y + s * s) + log_bessel_i0(tau * y * s);
  }
  return energy;
}

double prior_energy(const ballstick_settings& settings, const ballstick_parameters& p) {
  if (p.s0 < 0) return outside;
  if (settings.rician && p.tau <= 0) return outside;
  double energy = d_energy(settings, p.d);
  if (settings.model >= 2) energy += d_std_energy(settings, p.d_std);
  if (settings.model == 3) energy += ratio_energy(settings, p.ratio);
  if (settings.unattenuated) {
    if (p.f0 <= 0 || p.f0 >= 1) return outside;
    if (settings.ard_unattenuated) energy += std::log(p.f0);
  }
  for (int k = 0; k < settings.fibres; ++k) {
    if (p.f[k] <= 0 || p.f[k] >= 1) return outside;
    if (has_ard(settings, k)) energy += settings.ard_weight * std::log(p.f[k]);
    energy += polar_angle_energy(p.th[k]);
  }
  return fraction_sum(settings, p) > 1 ? outside : energy;
}

double posterior_energy(const ballstick_settings& settings, const ballstick_parameters& p,
                        const gradient_table& gradients, const std::vector<double>& measured) {
  const double prior = prior_energy(settings, p);
  if (prior == outside) return outside;
  const std::vector<double> predicted = ballstick_signals(settings, p, gradients);
  return prior + (settings.rician ? rician_energy(measured, predicted, p.tau) : gaussian_energy(measured, predicted));
}

std::vector<double> positive_signals(std::vector<double> measured) {
  double smallest = 0;
  for (const double y : measured)
    if (y > 0 && (smallest == 0 || y < smallest)) smallest = y;
  for (double& y : measured)
    if (y <= 0) y = smallest;
  return measured;
}

}  // namespace voxherd::reference
