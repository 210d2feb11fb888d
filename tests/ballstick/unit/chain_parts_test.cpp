// The part of a chain that a dry run computes.

#include <gtest/gtest.h>

#include "kernels/ballstick/settings.hpp"
#include "kernels/voxel_model/settings.hpp"

namespace voxherd::voxel_model {
namespace {

TEST(ChainParts, AUsualChainIsComputedCompletely) {
  const chain_lengths usual = ballstick::settings().lengths();
  EXPECT_EQ(parts_of_chain(usual), 1u);
  EXPECT_EQ(shortened(usual, 1).sampled_jumps, usual.sampled_jumps);
  EXPECT_EQ(parts_of_chain({0, 0, 25, 40, 1}), 1u);  // no samples are wanted
}

TEST(ChainParts, OfALongChainHaveTheSameShareOfSampledJumpsAndNotMoreSamples) {
  const chain_lengths cases[] = {{1000, 2'500'000, 25, 40, 1},
                                 {1000, 10'000'000, 100'000, 40, 1},
                                 {10'000'000, 1250, 25, 40, 1},
                                 {0, 5000, 5000, 40, 1},
                                 {9'999'999, 1, 1, 40, 1}};
  for (const chain_lengths& all : cases) {
    const std::uint64_t parts = parts_of_chain(all);
    for (const std::uint64_t wanted : {std::uint64_t{1}, parts / 2, parts - 1, parts}) {
      const chain_lengths part = shortened(all, wanted);
      const int samples = part.sampled_jumps / part.sample_every;
      EXPECT_GE(samples, 1);
      EXPECT_LE(samples, all.sampled_jumps / all.sample_every);
      EXPECT_LE(part.burn_in_jumps, all.burn_in_jumps);
      const double share = static_cast<double>(wanted) / static_cast<double>(parts);
      EXPECT_NEAR(part.burn_in_jumps, share * all.burn_in_jumps, 1);
      EXPECT_NEAR(part.sampled_jumps, share * all.sampled_jumps, 1);
    }
  }
}

TEST(ChainParts, AreThoseOfTheSettings) {
  settings noddi;
  noddi.samples = 100'000;
  const settings part = with_parts_of_chain(noddi, 2);
  EXPECT_NEAR(part.lengths().burn_in_jumps + part.lengths().sampled_jumps, 2 * jumps_per_part, 10);
  ballstick::settings fibres;
  fibres.sampled_jumps = 10'000'000;
  fibres.sample_every = 100'000;
  EXPECT_LE(with_parts_of_chain(fibres, 1).samples(), fibres.samples());
}

}  // namespace
}  // namespace voxherd::voxel_model
