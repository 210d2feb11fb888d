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
  void set_lengths(const chain_lengths& c) {
    burn_in_jumps = c.burn_in_jumps;
    samples = c.sampled_jumps / c.sample_every;
    sample_every = c.sample_every;
  }
};

/// The settings of a dry run that computes so many parts of each voxel's chain. `Settings` has lengths(), with at least
/// one sampled jump, and set_lengths().
template <class Settings>
Settings with_parts_of_chain(Settings s, std::uint64_t parts) {
  s.set_lengths(shortened(s.lengths(), parts));
  return s;
}

}  // namespace voxherd::voxel_model
