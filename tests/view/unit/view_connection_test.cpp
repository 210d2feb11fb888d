#include <gtest/gtest.h>

#include <cmath>

#include "src/view/connection.hpp"
#include "src/view/page_grid.hpp"
#include "src/view/streamlines.hpp"
#include "tests/support/devices.hpp"

namespace voxherd::view {
namespace {

constexpr std::uint64_t side = 16;

image_grid cube() {
  image_grid grid;
  grid.size = {side, side, side};
  grid.voxel_size_mm = {2, 2, 2};
  grid.voxel_to_world = {2, 0, 0, -10, 0, 2, 0, -10, 0, 0, 2, -10, 0, 0, 0, 1};
  return grid;
}

/// Fibres along x, everywhere the same.
tensor_source straight_fibres() {
  tensor_source t;
  t.grid = cube();
  t.image.size = t.grid.size;
  t.image.axes_mm = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  t.image.origin_mm = {-10, -10, -10};
  t.image.inside.assign(t.grid.voxel_count(), 1);
  for (std::uint64_t v = 0; v < t.grid.voxel_count(); ++v)
    t.image.tensor.insert(t.image.tensor.end(), {1.7e-3f, 0, 0, 0.3e-3f, 0, 0.3e-3f});
  return t;
}

connection_request along_x() {
  return {{std::array<double, 3>{-6, 4, 4}, 0}, {std::array<double, 3>{16, 4, 4}, 0}, {}};
}

TEST(ViewConnection, IsAbandonedAtEachStepWhenItIsReplacedAndIsTheSameAfterwards) {
  connection_solver solver({}, straight_fibres(), "", one_thread);
  const std::vector<float> total = solver.solve(along_x()).way.total;
  const std::vector<float> level = solver.last().level;
  int steps = 0;
  for (bool complete = false; !complete; steps += 1 + steps / 8) {
    int asked = 0;
    try {
      solver.solve(along_x(), [&] { return ++asked > steps; });
      complete = true;
    } catch (const replaced&) {
      EXPECT_LE(asked, steps + 4);  // it ends soon: one more answer for each front and order
      EXPECT_THROW(solver.last(), failure);
    }
  }
  EXPECT_GT(steps, 10);  // asked in each round
  EXPECT_EQ(solver.last().way.total, total);
  EXPECT_EQ(solver.last().level, level);
}

TEST(ViewConnection, HasTheLeastCostPathAndItsMeanFA) {
  connection_solver solver({}, straight_fibres(), "", one_thread);
  const connection& c = solver.solve(along_x());
  ASSERT_GT(c.path_mm.size(), 6u);
  for (std::size_t p = 0; p < c.path_mm.size(); p += 3) {
    EXPECT_NEAR(c.path_mm[p + 1], 4, 1);
    EXPECT_NEAR(c.path_mm[p + 2], 4, 1);
  }
  EXPECT_GT(c.path_mm.front(), c.path_mm[c.path_mm.size() - 3]);  // from the second end to the first
  EXPECT_NEAR(c.path_FA, static_cast<double>(solver.FA()[0]), 1e-6);
}

TEST(ViewConnection, MeanAlongAPathIsWeightedByLength) {
  const std::vector<std::uint64_t> voxels{0, 1};
  const std::vector<float> values{1, 4};
  // 1 mm in voxel 0 (from -11 to -9 mm), 2 mm in voxel 1, then outside.
  const std::vector<float> path{-10, -10, -10, -9, -10, -10, -7, -10, -10, -1, -10, -10};
  EXPECT_NEAR(mean_along(path, cube(), voxels, values), (1 * 1 + 2 * 4) / 3.0, 1e-6);
  EXPECT_TRUE(std::isnan(mean_along({}, cube(), voxels, values)));
}

TEST(ViewGlyphs, AreEvenlySpacedUpToALimitWithTheTensorsOfTheirVoxels) {
  const tensor_source t = straight_fibres();
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 0; v < t.grid.voxel_count(); ++v) voxels.push_back(v);
  const page_grid grid(t.grid);
  EXPECT_EQ(make_glyphs(voxels, t.image.tensor, grid, voxels.size()).voxels.size(), voxels.size());
  const glyph_set g = make_glyphs(voxels, t.image.tensor, grid, 500);
  EXPECT_LE(g.voxels.size(), 500u);
  EXPECT_GT(g.voxels.size(), 400u);
  EXPECT_EQ(g.eigen.size(), glyph_set::width * g.voxels.size());
  std::array<int, 8> in_octant{};
  for (const std::uint32_t v : g.voxels)
    ++in_octant[(v % side / (side / 2)) + 2 * (v / side % side / (side / 2)) + 4 * (v / side / side / (side / 2))];
  for (const int count : in_octant) EXPECT_NEAR(count, static_cast<double>(g.voxels.size()) / 8, 3);
  EXPECT_FLOAT_EQ(g.eigen[0], 1.7e-3f);
  EXPECT_FLOAT_EQ(g.eigen[2], 0.3e-3f);
  EXPECT_FLOAT_EQ(std::fabs(g.eigen[3]), 1);
}

TEST(ViewTrx, IsAZipFile) {
  const fibre_set fibres{{0, 2}, {0, 0, 0, 1, 0, 0}, {3}};
  EXPECT_EQ(make_trx(fibres, cube()).substr(0, 4), "PK\x03\x04");
}

}  // namespace
}  // namespace voxherd::view
