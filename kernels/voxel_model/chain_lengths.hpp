#pragma once

#include <cstdint>

namespace voxherd::voxel_model {

/// The lengths of a chain, and the seed of its random numbers.
struct chain_lengths {
  int burn_in_jumps, sampled_jumps, sample_every, adapt_every;
  std::uint64_t seed;
};

}  // namespace voxherd::voxel_model
