#include "kernels/phantom/dwi_samples.hpp"

#include <cmath>

#include "kernels/portable/draws.hpp"

namespace voxherd {

namespace {

double signal_of(const tissue& t, const gradient_table& g, std::size_t k) {
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

float with_noise(double signal, const noise_settings& noise, std::uint64_t voxel, std::uint64_t k) {
  if (noise.kind == noise_kind::none) return static_cast<float>(signal);
  // Not the streams that an estimator with the same seed draws from.
  constexpr std::uint64_t phantom_streams = 0x7068616e746f6d21;
  const draw_pair channels = draw(noise.seed ^ phantom_streams, voxel, k);
  const double real = signal + noise.deviation * static_cast<double>(channels.normal[0]);
  if (noise.kind == noise_kind::gaussian) return static_cast<float>(real);
  const double imaginary = noise.deviation * static_cast<double>(channels.normal[1]);
  return static_cast<float>(std::sqrt(real * real + imaginary * imaginary));
}

}  // namespace

void make_dwi_samples(std::span<const tissue> voxels, std::uint64_t first_voxel, const gradient_table& gradients,
                      std::size_t k, const noise_settings& noise, float* out) {
  for (std::size_t i = 0; i < voxels.size(); ++i)
    out[i] = voxels[i].inside ? with_noise(signal_of(voxels[i], gradients, k), noise, first_voxel + i, k) : 0.f;
}

}  // namespace voxherd
