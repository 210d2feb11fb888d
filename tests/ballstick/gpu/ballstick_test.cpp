#include <gtest/gtest.h>

#include "tests/ballstick/reference/ballstick_run.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class BallstickCuda : public gpu_test {
 protected:
  const device cpu{backend::cpu, 1, 0};
};

/// With the same random numbers the chain is the same: fit, proposals and decisions are those of the double reference.
TEST_F(BallstickCuda, TakesTheReferencesFirstJumps) {
  for (int model = 1; model <= 3; ++model)
    for (int fibres = 1; fibres <= max_fibres; ++fibres)
      for (const bool rician : {false, true})
        for (const bool unattenuated : {false, true}) {
          ballstick_settings s;
          s.model = model;
          s.fibres = fibres;
          s.rician = rician;
          s.unattenuated = unattenuated;
          expect_same_first_jumps(gpu, s);
        }
}

/// 8, 16 and 32 lanes per voxel, and more measurements than fit in registers.
TEST_F(BallstickCuda, TakesTheReferencesFirstJumpsWithAnyNumberOfMeasurements) {
  for (const int directions : {12, 40, 80, 130}) {
    for (const bool rician : {false, true}) {
      ballstick_settings s;
      s.model = 2;
      s.fibres = 2;
      s.rician = rician;
      expect_same_first_jumps(gpu, s, directions);
    }
  }
}

TEST_F(BallstickCuda, AGradientDeviationIsADifferentGradientTable) {
  for (const int directions : {12, 40, 80, 130}) expect_deviation_is_another_table(gpu, directions);
}

TEST_F(BallstickCuda, OddsChooseTheNumberOfFibres) {
  for (const bool rician : {false, true}) expect_fibres_by_odds(gpu, rician);
}

/// Hernandez 2013: three voxels, 1000 repeats, distributions of posterior means; significance level 0.01 over all 18
/// comparisons.
TEST_F(BallstickCuda, PosteriorMeansHaveTheDistributionOfTheCpu) {
  const auto protocol = three_voxels(1000);
  for (std::size_t voxel = 0; voxel < 3; ++voxel) {
    const auto on_gpu = repeats_of_program(gpu, protocol, voxel, 11);
    const auto on_cpu = repeats_of_program(cpu, protocol, voxel, 12);
    for (std::size_t q = 0; q < on_gpu.names.size(); ++q)
      EXPECT_GT(kolmogorov_smirnov_probability(on_gpu.columns[q], on_cpu.columns[q]), 0.01 / 18)
          << on_gpu.names[q] << " of voxel " << voxel;
  }
}

/// With the same seed, chains diverge only by rounding: most means are then closer than those of two seeds.
TEST_F(BallstickCuda, UsesTheRandomNumbersOfTheCpu) {
  const auto protocol = three_voxels(200);
  const auto on_gpu = repeats_of_program(gpu, protocol, 0, 11);
  const auto on_cpu = repeats_of_program(cpu, protocol, 0, 11);
  const auto other_seed = repeats_of_program(cpu, protocol, 0, 12);
  int closer = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    const double same = std::abs(on_gpu.columns[2][r] - on_cpu.columns[2][r]);
    const double other = std::abs(other_seed.columns[2][r] - on_cpu.columns[2][r]);
    closer += same < other ? 1 : 0;
  }
  EXPECT_GT(closer, 120);
}

}  // namespace
