#pragma once

#include <cstdint>

#include "kernels/voxel_model/chain_lengths.hpp"
#include "kernels/voxel_model/noise_model.hpp"

namespace voxherd::voxel_model {

/// The user's settings that all models have: noise and sampling.
struct settings {
  noise_model noise = noise_model::gaussian;
  double sigma = 0;  ///< standard deviation of Rician noise, unit of the signal; 0: estimated in each voxel

  int samples = 0;  ///< stored samples of the chain; 0: best fit only
  int burn_in_jumps = 1000;
  int sample_every = 25;
  int adapt_every = 40;
  std::uint64_t seed = 8665904;

  /// Whether the chain also samples the noise level.
  bool samples_tau() const { return noise == noise_model::rician && sigma == 0; }
  chain_lengths lengths() const { return {burn_in_jumps, samples * sample_every, sample_every, adapt_every, seed}; }
};

}  // namespace voxherd::voxel_model
