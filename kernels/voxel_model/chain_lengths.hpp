#pragma once

#include <algorithm>
#include <cstdint>

namespace voxherd::voxel_model {

/// The lengths of a chain, and the seed of its random numbers.
struct chain_lengths {
  int burn_in_jumps, sampled_jumps, sample_every, adapt_every;
  std::uint64_t seed;
};

/// A dry run computes so many parts of a long chain.
constexpr std::uint64_t jumps_per_part = 2500;

/// The parts of a chain, about equal in work. At least 1.
inline std::uint64_t parts_of_chain(const chain_lengths& c) {
  const auto jumps = static_cast<std::uint64_t>(c.burn_in_jumps) + static_cast<std::uint64_t>(c.sampled_jumps);
  return std::max<std::uint64_t>(1, (jumps + jumps_per_part - 1) / jumps_per_part);
}

/// A chain of so many parts of this one, with as large a share of jumps that are sampled, and at least one sample, but
/// not more than this one has. Itself if these are all of its parts.
inline chain_lengths shortened(const chain_lengths& c, std::uint64_t parts) {
  const std::uint64_t all = parts_of_chain(c);
  if (parts >= all) return c;
  const double share = static_cast<double>(parts) / static_cast<double>(all);
  const auto part_of = [&](int jumps) { return static_cast<int>(share * static_cast<double>(jumps)); };
  const int samples = c.sampled_jumps / c.sample_every;
  chain_lengths s = c;
  s.burn_in_jumps = part_of(c.burn_in_jumps);
  s.sampled_jumps = std::max(1, part_of(c.sampled_jumps));
  s.sample_every = (s.sampled_jumps + samples - 1) / samples;
  return s;
}

}  // namespace voxherd::voxel_model
