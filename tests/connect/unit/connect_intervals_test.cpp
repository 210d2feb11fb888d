#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/analyses/connect/bootstrap.hpp"

namespace {

using namespace voxherd;

TEST(ReplicateSummary, IsLinearBetweenTheSortedCosts) {
  std::vector<float> costs{5, 1, 4, 2, 3};

  const replicate_summary r = summarise(costs, 75);  // quantiles 1/8 and 7/8: halfway between the first two, last two

  EXPECT_DOUBLE_EQ(r.low, 1.5);
  EXPECT_DOUBLE_EQ(r.high, 4.5);
  EXPECT_DOUBLE_EQ(r.mean, 3);
  EXPECT_DOUBLE_EQ(r.sd, std::sqrt(2.5));
  EXPECT_EQ(r.valid, 5u);
}

TEST(ReplicateSummary, CountsAReplicateWithoutAPathAsInfinite) {
  std::vector<float> costs{2, INFINITY, 1, INFINITY, 3};

  const replicate_summary r = summarise(costs, 50);  // quantiles 1/4 and 3/4 are the second and the fourth

  EXPECT_DOUBLE_EQ(r.low, 2);
  EXPECT_TRUE(std::isinf(r.high));
  EXPECT_DOUBLE_EQ(r.mean, 2);
  EXPECT_DOUBLE_EQ(r.sd, 1);
  EXPECT_EQ(r.valid, 3u);
}

TEST(ReplicateSummary, HasNoMeanWithoutAPathAndNoDeviationOfOneCost) {
  std::vector<float> nowhere{INFINITY, INFINITY}, one{INFINITY, 7};

  const replicate_summary r = summarise(nowhere, 95), s = summarise(one, 95);

  EXPECT_TRUE(std::isinf(r.low) && std::isinf(r.high) && std::isnan(r.mean) && std::isnan(r.sd));
  EXPECT_EQ(r.valid, 0u);
  EXPECT_DOUBLE_EQ(s.mean, 7);
  EXPECT_TRUE(std::isnan(s.sd));
}

}  // namespace
