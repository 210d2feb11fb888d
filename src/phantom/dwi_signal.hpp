#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/portable/draws.hpp"
#include "kernels/portable/gradients.hpp"
#include "src/phantom/tissue.hpp"

namespace voxherd {

enum class noise_kind { none, gaussian, rician };

/// Ball and sticks (Behrens et al., MRM 50:1077, 2003):
/// S = S0 [ sum_j f_j exp(-b d (g.x_j)^2) + (1 - sum_j f_j) exp(-b d) ].
inline double ball_and_stick_signal(const tissue& t, const gradient_table& g, std::size_t k) {
  const double bd = g.b_s_per_mm2[k] * t.d_mm2_per_s;
  double ball = 1, signal = 0;
  for (std::size_t j = 0; j < t.fibres; ++j) {
    const direction3& x = t.direction[j];
    const double cosine = g.x[k] * x[0] + g.y[k] * x[1] + g.z[k] * x[2];
    signal += t.fraction[j] * std::exp(-bd * cosine * cosine);
    ball -= t.fraction[j];
  }
  return t.S0 * (signal + ball * std::exp(-bd));
}

/// The sample with noise of that standard deviation, keyed by (seed, voxel, volume): the same for any number of ranks.
inline float with_noise(double signal, noise_kind kind, double sigma, std::uint64_t seed, std::uint64_t voxel,
                        std::uint64_t volume) {
  if (kind == noise_kind::none) return static_cast<float>(signal);
  // Not the streams that an estimator with the same seed draws from.
  constexpr std::uint64_t phantom_streams = 0x7068616e746f6d21;
  const draw_pair noise = draw(seed ^ phantom_streams, voxel, volume);
  const double real = signal + sigma * static_cast<double>(noise.normal[0]);
  if (kind == noise_kind::gaussian) return static_cast<float>(real);
  const double imaginary = sigma * static_cast<double>(noise.normal[1]);
  return static_cast<float>(std::sqrt(real * real + imaginary * imaginary));
}

}  // namespace voxherd
