#include "src/analyses/connect/pathway.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace voxherd {
namespace {

std::vector<std::uint64_t> first_voxels(std::uint64_t count) {
  std::vector<std::uint64_t> voxels(count);
  for (std::uint64_t v = 0; v < count; ++v) voxels[v] = v;
  return voxels;
}

/// Two ends, one voxel each.
connect::region_list ends_at(std::uint32_t from, std::uint32_t to) { return {{0, 1, 2}, {from, to}}; }

region_table make_table(float there, float back) {
  region_table t;
  t.regions = 2;
  t.cost = {0, there, back, 0};
  t.length_mm = t.path_cost = t.cost;
  return t;
}

std::vector<int> inside(const pathway& p) { return {p.inside.begin(), p.inside.end()}; }

TEST(DisjointSets, AreNamedByTheirSmallestMember) {
  disjoint_sets sets(6);
  sets.join(5, 3);
  sets.join(4, 5);
  EXPECT_EQ(sets.root(4), 3u);
  EXPECT_EQ(sets.root(2), 2u);
  EXPECT_EQ(sets.join(4, 1), 1u);
  EXPECT_EQ(sets.root(5), 1u);
}

TEST(Neighbours, AreSixOrTwentySixAndInsideTheImage) {
  const auto voxels = first_voxels(27);
  const voxel_neighbours space({3, 3, 3}, voxels);
  const auto count = [&](std::uint32_t of, int neighbours) {
    int n = 0;
    space.each(of, neighbours, [&](std::uint32_t) { ++n; });
    return n;
  };
  EXPECT_EQ(count(13, 6), 6);
  EXPECT_EQ(count(13, 26), 26);
  EXPECT_EQ(count(0, 6), 3);
  EXPECT_EQ(count(0, 26), 7);
}

TEST(Islands, ShareNoFace) {
  // x: one row of 6 with a gap at 2, and a voxel of the next row that touches the first part only by its corner.
  const std::vector<std::uint64_t> voxels{0, 1, 3, 4, 5, 8};
  const voxel_neighbours space({6, 2, 1}, voxels);
  const auto island = islands_of(space, voxels.size());
  EXPECT_EQ(island, (std::vector<std::uint32_t>{0, 0, 2, 2, 2, 5}));
  const unreached_voxels u = count_unreached(island, {0, 1, INFINITY, INFINITY, INFINITY, INFINITY});
  EXPECT_EQ(u.voxels, 4u);
  EXPECT_EQ(u.islands, 2u);
  EXPECT_EQ(u.largest_island, 3u);
  EXPECT_EQ(u.elsewhere, 0u);
  EXPECT_EQ(count_unreached(island, {0, INFINITY, 1, 1, 1, 1}).elsewhere, 1u);
}

TEST(Pathway, IsTheCompleteCorridorWhereSolvingIsExact) {
  const auto voxels = first_voxels(5);
  const voxel_neighbours space({5, 1, 1}, voxels);
  const pathway p = find_pathway({0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, make_table(4, 4), ends_at(0, 4), space,
                                 {0.5f, 0.1f, 0.6f, 0.7f, 0.6f}, 0.05);
  EXPECT_EQ(inside(p), (std::vector<int>{1, 1, 1, 1, 1}));
  EXPECT_EQ(p.cost.gap(), 0);
  EXPECT_EQ(p.cost.joining_excess, 0);
  EXPECT_EQ(p.curve.size(), 40u);
  EXPECT_EQ(p.curve.front().voxels, 5u);
  EXPECT_NEAR(p.curve.front().mean_FA, 0.5, 1e-6);
  EXPECT_FLOAT_EQ(static_cast<float>(p.curve.front().min_FA), 0.1f);
}

TEST(Pathway, CountsEpsilonFromTheConnectedTotal) {
  // Totals of 10, 11, 11.2, 10.5, 10 along the corridor; next to it a voxel of 11.6.
  const std::vector<std::uint64_t> voxels{0, 1, 2, 3, 4, 7};
  const voxel_neighbours space({5, 2, 1}, voxels);
  const std::vector<float> from{0, 3, 6, 8, 10, 6}, to{10, 8, 5.2f, 2.5f, 0, 5.6f}, FA(6, 0.5f);
  const auto at = [&](double epsilon) {
    return find_pathway(from, to, make_table(10, 10), ends_at(0, 4), space, FA, epsilon);
  };
  EXPECT_NEAR(at(0.01).cost.joining_excess, 0.12, 1e-6);
  EXPECT_EQ(inside(at(0.01)), (std::vector<int>{1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(at(0.01).chosen.voxels, 5u);
  EXPECT_EQ(inside(at(0.05)), (std::vector<int>{1, 1, 1, 1, 1, 1}));
}

TEST(Pathway, ExcludesCheapVoxelsThatAreNotConnected) {
  // The corridor 0 to 2, a gap, and a voxel as cheap as its middle.
  const std::vector<std::uint64_t> voxels{0, 1, 2, 4};
  const voxel_neighbours space({5, 1, 1}, voxels);
  const pathway p = find_pathway({0, 1, 2, 1}, {2, 1, 0, 1}, make_table(2, 2), ends_at(0, 2), space, {1, 1, 1, 1}, 0.1);
  EXPECT_EQ(inside(p), (std::vector<int>{1, 1, 1, 0}));
  EXPECT_EQ(p.curve.back().voxels, 3u);
}

TEST(Pathway, MissingPathwayIsReported) {
  const auto voxels = first_voxels(2);
  const voxel_neighbours space({2, 1, 1}, voxels);
  EXPECT_THROW(
      find_pathway({0, INFINITY}, {INFINITY, 0}, make_table(INFINITY, INFINITY), ends_at(0, 1), space, {1, 1}, 0.05),
      failure);
}

TEST(Pathway, GapIsTheLargestDifferenceOfThreeCosts) {
  pathway_cost c;
  c.min_total = 10;
  c.from_at_to = 11;
  c.to_at_from = 10.5f;
  EXPECT_NEAR(c.gap(), 0.1, 1e-6);
}

}  // namespace
}  // namespace voxherd
