#include <gtest/gtest.h>

#include <cstring>

#include "tests/geodesic/reference/ranking_reference.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::geodesic;
using reference::bundles;

class GeodesicRankingCuda : public testing::Test {
 protected:
  void SetUp() override { skip_without_gpu(); }

  /// The same bytes from both.
  void expect_cpu_and_gpu_to_agree(const reference::ranking_case& r, std::size_t top, double distance_mm) {
    use_device(gpu);
    const auto order = ranked(gpu, r.c);
    ASSERT_EQ(order, ranked(cpu, r.c));
    const auto there = summarise(gpu, r.c, order, r.pairs), here = summarise(cpu, r.c, order, r.pairs);
    for (std::size_t p = 0; p < r.pairs; ++p) {
      EXPECT_EQ(there[p].count, here[p].count);
      EXPECT_EQ(std::memcmp(&there[p].best, &here[p].best, sizeof(float)), 0);
      if (here[p].mean_measure == here[p].mean_measure) {
        EXPECT_EQ(there[p].mean_measure, here[p].mean_measure);
      }
      EXPECT_EQ(there[p].mean_length_mm, here[p].mean_length_mm);
    }
    EXPECT_EQ(distinct(gpu, r.c, order, r.sketches, top, distance_mm),
              distinct(cpu, r.c, order, r.sketches, top, distance_mm));
  }

  const device gpu{backend::cuda, 1, 0};
  const device cpu{backend::cpu, 2, 0};
};

TEST_F(GeodesicRankingCuda, IsEquivalentToReference) {
  expect_ranking_equivalent_to_reference(gpu, bundles({400, 0, 0, 1, 33, 700, 32, 0, 256, 257}, 1));
}

TEST_F(GeodesicRankingCuda, IsEquivalentToReferenceForAnyOrderOfFibres) {
  expect_ranking_equivalent_to_reference(gpu, shuffled(bundles({400, 0, 0, 1, 33, 700, 32, 0}, 1), 2));
}

TEST_F(GeodesicRankingCuda, AgreesWithTheCpuOnOnePairOfAMillion) {
  expect_cpu_and_gpu_to_agree(bundles({1'000'000}, 5), 20, 4);
}

TEST_F(GeodesicRankingCuda, AgreesWithTheCpuOnSevenThousandPairs) {
  std::vector<std::size_t> sizes(7000);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i % 7 == 0 ? 0 : (i * 37) % 300;
  expect_cpu_and_gpu_to_agree(bundles(sizes, 6), 0, 1.5);
}

TEST_F(GeodesicRankingCuda, AcceptsNoCandidates) {
  EXPECT_TRUE(ranked(gpu, {}).empty());
  EXPECT_TRUE(distinct(gpu, {}, {}, {}, 3, 1).empty());
  EXPECT_EQ(summarise(gpu, {}, {}, 3).size(), 3u);
}

}  // namespace
