#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/portable/draws.hpp"

namespace voxherd {

enum class noise_kind { none, gaussian, rician };

struct noise_settings {
  noise_kind kind = noise_kind::rician;
  double deviation = 0;  ///< standard deviation of the noise of each channel, in the unit of the signal
  std::uint64_t seed = 1;
};

/// Adds noise to a sample. Noise is keyed by (seed, voxel in the image, sample) and does not depend on the number of
/// ranks and threads.
inline float with_noise(double signal, const noise_settings& noise, std::uint64_t voxel, std::uint64_t sample) {
  if (noise.kind == noise_kind::none) return static_cast<float>(signal);
  // Differs from the streams of an estimator with the same seed.
  constexpr std::uint64_t phantom_streams = 0x7068616e746f6d21;
  const draw_pair channels = draw(noise.seed ^ phantom_streams, voxel, sample);
  const double real = signal + noise.deviation * static_cast<double>(channels.normal[0]);
  if (noise.kind == noise_kind::gaussian) return static_cast<float>(real);
  const double imaginary = noise.deviation * static_cast<double>(channels.normal[1]);
  return static_cast<float>(std::sqrt(real * real + imaginary * imaginary));
}

}  // namespace voxherd
