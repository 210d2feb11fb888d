#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/tensor/tensor.hpp"
#include "src/phantom/dwi_phantom.hpp"

namespace {

using namespace voxherd;

double dot(const direction3& a, const direction3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Smallest angle between two lines of the set, degrees.
double closest_pair(const std::vector<direction3>& set) {
  double largest = 0;
  for (std::size_t i = 0; i < set.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) largest = std::max(largest, std::fabs(dot(set[i], set[j])));
  return std::acos(largest) * 180 / M_PI;
}

TEST(SpreadDirections, AreWellSeparatedUnitVectors) {
  for (const std::size_t count : {6, 30, 64, 90, 256}) {
    const auto set = spread_directions(count);
    ASSERT_EQ(set.size(), count);
    for (const auto& g : set) EXPECT_NEAR(dot(g, g), 1, 1e-12);
    // The distance of caps that cover the half sphere with the density of a hexagonal lattice.
    const double ideal = std::acos(1 - 0.9069 / double(count)) * 2 * 180 / M_PI;
    EXPECT_GT(closest_pair(set), 0.75 * ideal) << count;
  }
}

TEST(SpreadDirections, CoverAllDirections) {
  const auto set = spread_directions(64);
  double moment[3][3] = {};
  for (const auto& g : set)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) moment[i][j] += g[i] * g[j] / 64;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(moment[i][j], i == j ? 1. / 3 : 0, 0.01);
}

TEST(MakeGradients, HasTheRequestedVolumesWithInterleavedB0) {
  const gradient_table g = make_gradients(18, {{1000, 90}, {2000, 90}, {3000, 90}});
  ASSERT_EQ(g.size(), 288u);
  EXPECT_EQ(std::count(g.b_s_per_mm2.begin(), g.b_s_per_mm2.end(), 0.), 18);
  EXPECT_EQ(std::count(g.b_s_per_mm2.begin(), g.b_s_per_mm2.end(), 2000.), 90);
  EXPECT_EQ(g.b_s_per_mm2[0], 0);
  for (std::size_t k = 1, since = 0; k < g.size(); ++k) {
    since = g.b_s_per_mm2[k] == 0 ? 0 : since + 1;
    EXPECT_LE(since, 15u);
  }
  EXPECT_TRUE(determines_tensor(g));
}

}  // namespace
