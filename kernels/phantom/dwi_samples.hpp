#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/phantom/noise.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd {

constexpr std::size_t max_phantom_fibres = 3;

/// Composition of a phantom voxel: the ball-and-stick truth.
struct tissue {
  bool inside = false;  ///< in the mask
  std::size_t fibres = 0;
  std::array<double, max_phantom_fibres> fraction{};  ///< decreasing
  std::array<std::array<double, 3>, max_phantom_fibres> direction{};
  double d_mm2_per_s = 0;
  double S0 = 0;
};

/// Samples of consecutive voxels: out[i] is voxel first_voxel + i in measurement k. Zero outside the mask.
///
/// Ball and sticks (Behrens et al., MRM 50:1077, 2003):
/// S = S0 [ sum_j f_j exp(-b d (g.x_j)^2) + (1 - sum_j f_j) exp(-b d) ].
/// Noise is keyed by (seed, voxel, measurement) and does not depend on the number of ranks and threads.
void make_dwi_samples(std::span<const tissue> voxels, std::uint64_t first_voxel, const gradient_table& gradients,
                      std::size_t k, const noise_settings& noise, float* out);

}  // namespace voxherd
