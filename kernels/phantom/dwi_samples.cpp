#include "kernels/phantom/phantom_signals.hpp"

#include <cmath>

namespace voxherd {

namespace {

double noise_free_signal(const tissue& t, const gradient_table& g, std::size_t k) {
  const double bd = g.b_s_per_mm2[k] * t.d_mm2_per_s;
  double ball = 1, sticks = 0;
  for (std::size_t j = 0; j < t.fibres; ++j) {
    const auto& x = t.direction[j];
    const double cosine = g.x[k] * x[0] + g.y[k] * x[1] + g.z[k] * x[2];
    sticks += t.fraction[j] * std::exp(-bd * cosine * cosine);
    ball -= t.fraction[j];
  }
  return t.S0 * (sticks + ball * std::exp(-bd));
}

}  // namespace

void make_dwi_samples(std::span<const tissue> voxels, std::uint64_t first_voxel, const gradient_table& gradients,
                      std::size_t k, const noise_settings& noise, float* out) {
  for (std::size_t i = 0; i < voxels.size(); ++i)
    out[i] = voxels[i].inside ? with_noise(noise_free_signal(voxels[i], gradients, k), noise, first_voxel + i, k) : 0.f;
}

void make_noisy_samples(std::span<const double> signals, std::uint64_t first_voxel, std::uint64_t sample,
                        const noise_settings& noise, float* out) {
  for (std::size_t i = 0; i < signals.size(); ++i) out[i] = with_noise(signals[i], noise, first_voxel + i, sample);
}

}  // namespace voxherd
