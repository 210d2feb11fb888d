#include "src/analyses/connect/pathway.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace voxherd {
namespace {

struct grid_case {
  std::vector<std::uint64_t> voxels;
  std::vector<float> from, to, FA;
  connect::region_list regions{{0, 2, 4}, {0, 1, 3, 4}};
  region_table table;
};

/// Random arrival times on a grid with holes: many parts that join late, or never.
grid_case make_case(unsigned seed) {
  grid_case c;
  std::mt19937 draw(seed);
  for (std::uint64_t v = 0; v < 9 * 8 * 7; ++v)
    if (draw() % 10 < 4) c.voxels.push_back(v);
  std::uniform_real_distribution<float> time(1, 10);
  for (std::size_t v = 0; v < c.voxels.size(); ++v) {
    c.from.push_back(v % 11 == 0 ? INFINITY : time(draw));
    c.to.push_back(time(draw));
    c.FA.push_back(0.5f);
  }
  c.table.regions = 2;
  c.table.cost = c.table.length_mm = c.table.path_cost = {0, 2, 2, 0};
  return c;
}

TEST(JoiningLevels, AreThePathwayForEveryEpsilon) {
  std::size_t inside = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const grid_case c = make_case(seed);
    const voxel_neighbours space({9, 8, 7}, c.voxels);
    for (const double epsilon : {0.0001, 0.01, 0.05, 0.3, 1.0, 10.0}) {
      const pathway p = find_pathway(c.from, c.to, c.table, c.regions, space, c.FA, epsilon);
      const std::vector<float> level = joining_levels(p, c.regions, space, 10);
      const double limit = (1 + epsilon) * (1 + p.cost.joining_excess) - 1;
      for (std::size_t v = 0; v < level.size(); ++v) {
        ASSERT_EQ(p.inside[v] != 0, static_cast<double>(level[v]) <= limit) << seed << " " << epsilon << " " << v;
        inside += p.inside[v];
      }
    }
  }
  EXPECT_GT(inside, 1000u);
}

TEST(JoiningLevels, AreLeftOutBeyondTheLargestEpsilon) {
  const grid_case c = make_case(1);
  const voxel_neighbours space({9, 8, 7}, c.voxels);
  const pathway p = find_pathway(c.from, c.to, c.table, c.regions, space, c.FA, 0.05);
  const std::vector<float> all = joining_levels(p, c.regions, space, 10);
  const std::vector<float> some = joining_levels(p, c.regions, space, 0.05);
  const double limit = 1.05 * (1 + p.cost.joining_excess) - 1;
  std::size_t beyond = 0;
  for (std::size_t v = 0; v < all.size(); ++v) {
    const bool is_beyond = static_cast<double>(all[v]) > limit;
    EXPECT_EQ(some[v], is_beyond ? INFINITY : all[v]) << v;
    beyond += is_beyond ? 1 : 0;
  }
  EXPECT_GT(beyond, 0u);
  EXPECT_LT(beyond, all.size());
}

TEST(JoiningLevels, OfAVoxelNextToThePathIsItsOwnExcess) {
  const std::vector<std::uint64_t> voxels{0, 1, 2, 4};
  const voxel_neighbours space({3, 2, 1}, voxels);
  pathway p;
  p.excess = {0, 0, 0, 0.5f};
  EXPECT_EQ(joining_levels(p, {{0, 1, 2}, {0, 2}}, space, 1), (std::vector<float>{0, 0, 0, 0.5f}));
  // Without its middle the path joins over the other row: all of it at once.
  p.excess = {0, INFINITY, 0, 0.5f};
  EXPECT_EQ(joining_levels(p, {{0, 1, 2}, {0, 2}}, space, 1), (std::vector<float>{0.5f, INFINITY, 0.5f, 0.5f}));
}

}  // namespace
}  // namespace voxherd
