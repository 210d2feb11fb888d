#include "src/phantom/network_score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace {

using namespace voxherd;

/// Four regions; bundles connect 1-2 and 3-4.
const std::vector<region_pair> two_bundles{{1, 2}, {3, 4}};

region_network four_regions(double a12, double a13, double a14, double a23, double a24, double a34) {
  return {{1, 2, 3, 4}, {0, a12, a13, a14, a12, 0, a23, a24, a13, a23, 0, a34, a14, a24, a34, 0}};
}

TEST(NetworkScore, OfThePerfectNetwork) {
  const network_score s = score_network(four_regions(10, 0, 0, 0, 0, 1), two_bundles, best_value::largest);
  EXPECT_EQ(s.true_pairs, 2u);
  EXPECT_EQ(s.all_pairs, 6u);
  EXPECT_EQ(s.valid, 2u);
  EXPECT_EQ(s.invalid, 0u);
  EXPECT_EQ(s.auc, 1);
  EXPECT_EQ(s.first_valid, 2u);
  EXPECT_EQ(s.valid_share, 1);
}

TEST(NetworkScore, CountsByHand) {
  // Order: 1-3 (5), 1-2 (4), 2-4 (1); 3-4 is missed. Of 8 comparisons true pair 1-2 wins 3, 3-4 ties with the three
  // unconnected.
  const network_score s = score_network(four_regions(4, 5, 0, 0, 1, 0), two_bundles, best_value::largest);
  EXPECT_EQ(s.valid, 1u);
  EXPECT_EQ(s.invalid, 2u);
  EXPECT_DOUBLE_EQ(s.auc, (3 + 2 * 0.5) / 8);
  EXPECT_EQ(s.first_valid, 1u);
  EXPECT_DOUBLE_EQ(s.valid_share, 0.4);
}

TEST(NetworkScore, OfCostsPrefersTheSmallest) {
  const network_score s = score_network(four_regions(1, INFINITY, 5, 6, 7, 2), two_bundles, best_value::smallest);
  EXPECT_EQ(s.valid, 2u);
  EXPECT_EQ(s.invalid, 3u);
  EXPECT_EQ(s.auc, 1);
  EXPECT_EQ(s.first_valid, 2u);
  EXPECT_EQ(score_network(four_regions(9, 1, 5, 6, 7, 8), two_bundles, best_value::smallest).auc, 0);
}

TEST(NetworkScore, OfEqualValuesIsChance) {
  const network_score s = score_network(four_regions(1, 1, 1, 1, 1, 1), two_bundles, best_value::largest);
  EXPECT_EQ(s.auc, 0.5);
  EXPECT_EQ(s.first_valid, 0u);  // a tie earns nothing
}

}  // namespace
