#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "tests/ballstick/reference/ballstick_reference.hpp"

namespace voxherd::reference {

/// `b0` volumes without weighting, then `directions` on a half sphere (a golden spiral) for each shell.
inline gradient_table spiral_shells(int b0, int directions, const std::vector<double>& shells_s_per_mm2) {
  gradient_table table;
  const auto add = [&](double x, double y, double z, double b) {
    table.x.push_back(x);
    table.y.push_back(y);
    table.z.push_back(z);
    table.b_s_per_mm2.push_back(b);
  };
  for (int i = 0; i < b0; ++i) add(0, 0, 0, 0);
  for (std::size_t shell = 0; shell < shells_s_per_mm2.size(); ++shell)
    for (int i = 0; i < directions; ++i) {
      const double z = (i + 0.5) / directions, r = std::sqrt(1 - z * z);
      const double turn = 2 * std::numbers::pi * std::numbers::phi * i + static_cast<double>(shell);
      add(r * std::cos(turn), r * std::sin(turn), z, shells_s_per_mm2[shell]);
    }
  return table;
}

inline std::array<double, 3> fibre_direction(const ballstick_parameters& p, int k) {
  return {std::sin(p.th[k]) * std::cos(p.ph[k]), std::sin(p.th[k]) * std::sin(p.ph[k]), std::cos(p.th[k])};
}

/// Angle between two axes (sign ignored), in radians; accurate for small angles.
inline double axis_angle(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  const double cx = a[1] * b[2] - a[2] * b[1], cy = a[2] * b[0] - a[0] * b[2], cz = a[0] * b[1] - a[1] * b[0];
  return std::atan2(std::sqrt(cx * cx + cy * cy + cz * cz), std::abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
}

/// A voxel with 1 to 4 well separated fibres in descending order of fraction.
inline ballstick_parameters known_voxel(const ballstick_settings& settings) {
  ballstick_parameters p;
  p.s0 = 1000;
  p.d = 0.0011;
  p.d_std = settings.model >= 2 ? 0.0006 : 0;
  p.ratio = settings.ratio_mean;
  p.f0 = settings.unattenuated ? 0.06 : 0;
  const std::array<std::array<double, max_fibres>, max_fibres> fractions{
      {{0.55}, {0.42, 0.25}, {0.36, 0.24, 0.14}, {0.32, 0.22, 0.15, 0.1}}};
  p.f = fractions[settings.fibres - 1];
  p.th = {1.35, 0.3, 1.5, 2.3};
  p.ph = {0.3, 1.2, 1.8, -1.2};
  return p;
}

/// Noise-free signals with Gaussian or Rician noise of standard deviation `sigma` added.
inline std::vector<double> noisy_signals(const ballstick_settings& settings, const ballstick_parameters& truth,
                                         const gradient_table& gradients, double sigma, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, sigma);
  std::vector<double> signals = ballstick_signals(settings, truth, gradients);
  for (double& s : signals) {
    s += normal(random);
    if (settings.rician) s = std::hypot(s, normal(random));
  }
  return signals;
}

/// Samples of an ordinary generator, for runs that need no particular stream.
inline draw_source ordinary_draws(std::mt19937_64& random) {
  return [&random](int, int) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const double n = normal(random);
    return proposal_draw{n, uniform(random)};
  };
}

}  // namespace voxherd::reference
