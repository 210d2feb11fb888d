#include "kernels/phantom/dispersed_signal.hpp"

#include <cmath>
#include <cstddef>

namespace voxherd {

namespace {

constexpr std::size_t max_degree = 40;

/// P_0(x) to P_max(x), by their recurrence.
std::vector<double> legendre_polynomials(double x) {
  std::vector<double> p(max_degree + 1, 1);
  p[1] = x;
  for (std::size_t l = 1; l < max_degree; ++l) {
    const auto n = static_cast<double>(l);
    p[l + 1] = ((2 * n + 1) * x * p[l] - n * p[l - 1]) / (n + 1);
  }
  return p;
}

double attenuation(const bundle_diffusion& t, double b, double cosine) {
  const double along = cosine * cosine, across = 1 - along;
  const double stick = std::exp(-b * t.axial_mm2_per_s * along);
  return t.stick_share * stick + (1 - t.stick_share) * stick * std::exp(-b * t.radial_mm2_per_s * across);
}

constexpr int midpoints = 4000;

/// (2 l + 1) times the mean of attenuation * P_l over cosines, for even l.
std::vector<double> attenuation_coefficients(const bundle_diffusion& t, double b) {
  std::vector<double> sum(max_degree / 2 + 1, 0);
  for (int i = 0; i < midpoints; ++i) {
    const double x = (i + 0.5) / midpoints, value = attenuation(t, b, x);
    const auto p = legendre_polynomials(x);
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += (4 * static_cast<double>(k) + 1) * value * p[2 * k] / midpoints;
  }
  return sum;
}

/// The mean of P_l over the von Mises-Fisher distribution, for even l: midpoints of its quantiles.
std::vector<double> dispersion_coefficients(double concentration) {
  std::vector<double> mean(max_degree / 2 + 1, 0);
  const double least = std::exp(-2 * concentration);
  for (int i = 0; i < midpoints; ++i) {
    const double quantile = (i + 0.5) / midpoints;
    const double cosine = 1 + std::log(quantile + (1 - quantile) * least) / concentration;
    const auto p = legendre_polynomials(cosine);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += p[2 * k] / midpoints;
  }
  return mean;
}

}  // namespace

dispersed_signal::dispersed_signal(const bundle_diffusion& tissue, double b_s_per_mm2)
    : even_coefficients_(attenuation_coefficients(tissue, b_s_per_mm2)) {
  const auto spread = dispersion_coefficients(tissue.concentration);
  for (std::size_t k = 0; k < spread.size(); ++k) even_coefficients_[k] *= spread[k];
}

double dispersed_signal::operator()(double cosine) const {
  const auto p = legendre_polynomials(cosine);
  double sum = 0;
  for (std::size_t k = 0; k < even_coefficients_.size(); ++k) sum += even_coefficients_[k] * p[2 * k];
  return sum;
}

}  // namespace voxherd
