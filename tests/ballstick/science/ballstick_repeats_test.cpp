#include <gtest/gtest.h>

#include "tests/ballstick/reference/ballstick_run.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// Kim 2022 (PLoS ONE e0252736) and Hernandez 2013 (e61892): three voxels, many repeats, Kolmogorov-Smirnov tests. The
/// significance level is 0.01 over all 18 comparisons.
TEST(BallstickRepeats, PosteriorMeansHaveTheReferencesDistribution) {
  const auto protocol = three_voxels(150);
  for (std::size_t voxel = 0; voxel < 3; ++voxel) {
    const auto program = repeats_of_program({backend::cpu, 1, 0}, protocol, voxel, 11);
    const auto reference = repeats_of_reference(protocol, voxel, 12 + voxel);
    for (std::size_t q = 0; q < program.names.size(); ++q)
      EXPECT_GT(kolmogorov_smirnov_probability(program.columns[q], reference.columns[q]), 0.01 / 18)
          << program.names[q] << " of voxel " << voxel;
  }
}

TEST(BallstickRepeats, TheTestDetectsAShiftOfAQuarterStandardDeviation) {
  std::vector<double> a, b;
  for (int i = 0; i < 1000; ++i) {
    const double u = (i + 0.5) / 1000;
    a.push_back(u);
    b.push_back(u + 0.25 * 0.2887);
  }
  EXPECT_LT(kolmogorov_smirnov_probability(a, b), 0.05);
  EXPECT_GT(kolmogorov_smirnov_probability(a, a), 0.99);
}

}  // namespace
