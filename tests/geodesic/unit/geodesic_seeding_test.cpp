#include "src/analyses/geodesic/seeding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "src/scan/grid_space.hpp"

namespace voxherd {
namespace {

using geodesic::seed;
using tensor_field::tensor_image;

constexpr std::uint64_t nx = 4, ny = 3, nz = 2;

/// Main axis (0.6, 0, 0.8) everywhere; all voxels inside.
tensor_image image_of_one_tensor() {
  tensor_image image;
  image.size = {nx, ny, nz};
  const double a[3] = {0.6, 0, 0.8};
  for (std::uint64_t v = 0; v < nx * ny * nz; ++v) {
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j)
        image.tensor.push_back(static_cast<float>((i == j ? 3e-4 : 0) + 1.4e-3 * a[i] * a[j]));
  }
  image.inside.assign(nx * ny * nz, 1);
  return image;
}

image_grid oblique_grid() {
  const double c = std::cos(0.5), s = std::sin(0.5);
  image_grid g;
  g.size = {nx, ny, nz};
  g.voxel_to_world = {2 * c, -3 * s, 0, 7, 2 * s, 3 * c, 0, -5, 0, 0, 4, 11, 0, 0, 0, 1};
  return g;
}

vector3 place(const seed& s) { return {s.voxel[0], s.voxel[1], s.voxel[2]}; }

TEST(Seeding, OneInTheCentreOfEachVoxelInsideAlongItsMainAxis) {
  tensor_image image = image_of_one_tensor();
  image.inside[5] = 0;
  const seed_list list = seeds_in_voxels({1, 5, 14}, image, {});
  ASSERT_EQ(list.seeds.size(), 2U);
  EXPECT_EQ(list.outside, 1U);
  EXPECT_EQ(place(list.seeds[0]), (vector3{1, 0, 0}));
  EXPECT_EQ(place(list.seeds[1]), (vector3{2, 0, 1}));
  const float expected[3] = {0.6f, 0, 0.8f};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(list.seeds[1].axis[i], expected[i], 1e-6);
}

TEST(Seeding, AGridDividesTheVoxelEvenly) {
  const seed_list list = seeds_in_voxels({5}, image_of_one_tensor(), {seeding_kind::grid, 2, 0, {}});
  ASSERT_EQ(list.seeds.size(), 8U);
  // z is at the image's first slice of centres, beyond which nothing is interpolated.
  EXPECT_EQ(place(list.seeds[0]), (vector3{0.75, 0.75, 0}));
  EXPECT_EQ(place(list.seeds[1]), (vector3{1.25, 0.75, 0}));
  EXPECT_EQ(place(list.seeds[7]), (vector3{1.25, 1.25, 0.25}));
}

TEST(Seeding, RandomPositionsAreUniformAndDependOnlyOnTheVoxel) {
  const tensor_image image = image_of_one_tensor();
  const seeding_settings how{seeding_kind::random, 4000, 9, {}};
  const seed_list both = seeds_in_voxels({5, 6}, image, how), alone = seeds_in_voxels({6}, image, how);
  ASSERT_EQ(both.seeds.size(), 8000U);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    EXPECT_EQ(place(both.seeds[4000 + i]), place(alone.seeds[i]));
    const double x = alone.seeds[i].voxel[0] - 2;
    ASSERT_LE(std::abs(x), 0.5);
    sum += x;
    squares += x * x;
  }
  // five standard deviations of the mean and of the variance of 4000 uniform draws
  EXPECT_NEAR(sum / 4000, 0, 5 * std::sqrt(1.0 / 12 / 4000));
  EXPECT_NEAR(squares / 4000, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / 4000));
  seeding_settings other = how;
  other.random_seed = 10;
  EXPECT_NE(place(seeds_in_voxels({6}, image, other).seeds[0]), place(alone.seeds[0]));
}

TEST(Seeding, WorldPointsAreOrderedByVoxel) {
  const tensor_image image = image_of_one_tensor();
  const image_grid grid = oblique_grid();
  const auto world = [&](double i, double j, double k) {
    const auto& m = grid.voxel_to_world;
    std::vector<double> w;
    for (std::size_t r = 0; r < 12; r += 4) w.push_back(m[r] * i + m[r + 1] * j + m[r + 2] * k + m[r + 3]);
    return w;
  };
  std::vector<double> points;
  for (const auto& w : {world(2.2, 1.1, 1), world(0.4, 2, 0.3), world(9, 0, 0), world(-0.3, 0.2, 0)})
    points.insert(points.end(), w.begin(), w.end());
  const seed_list list = seeds_at_points(points, image, grid);
  EXPECT_EQ(list.outside, 1U);
  ASSERT_EQ(list.seeds.size(), 3U);
  const double expected[3][3] = {{0, 0.2, 0}, {0.4, 2, 0.3}, {2.2, 1.1, 1}};  // the first is clamped to the centres
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(list.seeds[s].voxel[i], expected[s][i], 1e-12);
}

TEST(Seeding, AxisIsInterpolatedOnlyOverVoxelsInside) {
  tensor_image image = image_of_one_tensor();
  const std::uint64_t neighbour = 6;
  const float along_y[6] = {3e-4f, 0, 0, 5e-2f, 0, 3e-4f};
  std::copy(along_y, along_y + 6, image.tensor.begin() + 6 * neighbour);
  const auto axis_beside = [&] {
    return seeds_at_points({1.4, 1, 0}, image,
                           [] {
                             image_grid g;
                             g.size = {nx, ny, nz};
                             g.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
                             return g;
                           }())
        .seeds.at(0);
  };
  EXPECT_NEAR(axis_beside().axis[1], 1, 1e-3);
  image.inside[neighbour] = 0;
  EXPECT_NEAR(axis_beside().axis[2], 0.8, 1e-6);
}

}  // namespace
}  // namespace voxherd
