#include "src/analyses/connect/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace voxherd {
namespace {

/// Arrival times with many equal and INFINITY ones.
std::vector<float> random_arrivals(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> arrival(count);
  for (float& u : arrival) u = random() % 5 == 0 ? INFINITY : static_cast<float>(random() % 9);
  return arrival;
}

class NearestRegions : public testing::Test {
 protected:
  static constexpr std::size_t voxels = 5000, regions = 23;
  NearestRegions() : arrival(random_arrivals(regions * voxels)) {}
  nearest_regions among(std::size_t begin, std::size_t end, int threads) const {
    nearest_regions found(voxels);
    found.add(begin, std::span(arrival).subspan(begin * voxels, (end - begin) * voxels), threads);
    return found;
  }

  std::vector<float> arrival;
};

void expect_equal(const nearest_regions& a, const nearest_regions& b) {
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.second, b.second);
  EXPECT_EQ(a.first_cost, b.first_cost);
  EXPECT_EQ(a.second_cost, b.second_cost);
}

TEST_F(NearestRegions, AreTheFirstTwoInTheOrderOfCostAndNumber) {
  const nearest_regions found = among(0, regions, 1);
  for (std::size_t v = 0; v < voxels; ++v) {
    std::vector<std::size_t> order(regions);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return arrival[a * voxels + v] < arrival[b * voxels + v]; });
    const float first = arrival[order[0] * voxels + v], second = arrival[order[1] * voxels + v];
    ASSERT_EQ(found.first_cost[v], first);
    ASSERT_EQ(found.second_cost[v], second);
    ASSERT_EQ(found.first[v], first < INFINITY ? static_cast<std::int32_t>(order[0]) : -1);
    ASSERT_EQ(found.second[v], second < INFINITY ? static_cast<std::int32_t>(order[1]) : -1);
  }
}

TEST_F(NearestRegions, DoNotDependOnThreads) { expect_equal(among(0, regions, 3), among(0, regions, 1)); }

TEST_F(NearestRegions, DoNotDependOnHowRanksShareTheRegions) {
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{12}, regions}) {
    nearest_regions found = among(0, cut, 1);
    found.add(among(cut, regions, 1));
    expect_equal(found, among(0, regions, 1));
  }
}

TEST_F(NearestRegions, DoNotDependOnTheOrderOfBatches) {
  std::vector<std::size_t> starts{0, 3, 4, 11, 16};
  std::mt19937 random(3);
  for (int turn = 0; turn < 5; ++turn) {
    std::shuffle(starts.begin(), starts.end(), random);
    nearest_regions found(voxels), others(voxels);
    for (const std::size_t begin : starts) {
      const std::size_t end = begin == 16 ? regions : begin == 0 ? 3 : begin == 3 ? 4 : begin == 4 ? 11 : 16;
      (begin % 2 == 0 ? found : others)
          .add(begin, std::span(arrival).subspan(begin * voxels, (end - begin) * voxels), 2);
    }
    others.add(found);
    expect_equal(others, among(0, regions, 1));
  }
}

}  // namespace
}  // namespace voxherd
