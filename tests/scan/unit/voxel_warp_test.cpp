#include "src/scan/warps/voxel_warp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace voxherd {
namespace {

image_grid make_grid(std::array<std::uint64_t, 3> size, double mm, bool right_handed) {
  image_grid grid;
  grid.size = size;
  grid.voxel_size_mm = {mm, mm, mm};
  grid.voxel_to_world = {right_handed ? mm : -mm, 0, 0, 5, 0, mm, 0, -7, 0, 0, mm, 3, 0, 0, 0, 1};
  return grid;
}

/// A field on the voxels of a grid, in FSL's mm.
transform make_field(const fsl_grid& grid, const std::function<vector3(const vector3& mm)>& displacement) {
  transform t;
  t.frame = mm_frame::fsl;
  t.field.size = grid.size;
  t.field.to_voxel = to_fsl_mm(grid).inverse();
  for (std::uint64_t v = 0; v < grid.voxel_count(); ++v) {
    const vector3 moved = displacement(to_fsl_mm(grid)(voxel_position(grid, v)));
    t.field.mm.push_back({static_cast<float>(moved[0]), static_cast<float>(moved[1]), static_cast<float>(moved[2])});
  }
  return t;
}

vector3 wave(const vector3& mm) {
  return {3 * std::sin(mm[1] / 5), 2 * std::cos(mm[0] / 7), 1.5 * std::sin(mm[2] / 4)};
}

struct made_warp {
  explicit made_warp(new_warp made) : map(made.map), values(std::move(made.values)) { map.values = values.data(); }
  voxel_warp map;
  std::vector<track::displacement> values;
};

TEST(VoxelWarp, AddsTheDisplacementInMmOfItsOwnGridAndDividesByTheSizeOfTheOtherImage) {
  const fsl_grid from(make_grid({10, 9, 8}, 2, true)), field(make_grid({20, 18, 16}, 1, true)),
      to(make_grid({10, 9, 8}, 1.5, false));
  const made_warp warp(make_voxel_warp(make_field(field, wave), from, to));
  const vector3 found = warp.map({4, 3, 5}), moved = wave({8, 6, 10});  // a point of the field
  EXPECT_NEAR(found[0], (8 + moved[0]) / 1.5, 1e-6);
  EXPECT_NEAR(found[1], (6 + moved[1]) / 1.5, 1e-6);
  EXPECT_NEAR(found[2], (10 + moved[2]) / 1.5, 1e-6);
}

TEST(VoxelWarp, KeepsTheBordersDisplacementForAVoxelAndDropsToNoneInTheNext) {
  const fsl_grid grid(make_grid({6, 5, 4}, 1, false));
  const made_warp warp(make_voxel_warp(make_field(grid, [](const vector3&) { return vector3{3, 0, 0}; }), grid, grid));
  for (const auto& [x, moved] :
       {std::pair(0.0, 3.0), {-1, 3}, {-1.25, 2.25}, {-2, 0}, {-50, 0}, {5, 3}, {6, 3}, {6.5, 1.5}, {7, 0}, {900, 0}}) {
    EXPECT_NEAR(warp.map({x, 2, 1})[0] - x, moved, 1e-6) << x;
    const float p[3] = {static_cast<float>(x), 2, 1};
    float to[3];
    warp.map.view().map(p, to);
    EXPECT_NEAR(to[0] - p[0], moved, 1e-4) << x;
  }
  EXPECT_TRUE(warp.map.covers({-0.4, 0, 0}));
  EXPECT_FALSE(warp.map.covers({-0.6, 0, 0}));
}

TEST(VoxelWarp, TheKernelsMapIsThatInDoubleAndPointsStayInTheirBounds) {
  const fsl_grid from(make_grid({12, 11, 10}, 2, true)), field(make_grid({9, 8, 7}, 2.7, true)),
      to(make_grid({14, 13, 12}, 1.75, false));
  const made_warp warp(make_voxel_warp(make_field(field, wave), from, to));
  const track::point_warp kernel = warp.map.view();
  std::mt19937 chance(1);
  std::uniform_real_distribution<double> place(-4, 15), apart(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    const vector3 centre = {place(chance), place(chance), place(chance)}, half = {0.5, 1.5, 0.5};
    const voxel_box box = warp.map.bounds(centre, half);
    vector3 p = centre;
    for (std::size_t d = 0; d < 3; ++d) p[d] += apart(chance) * half[d];
    const vector3 found = warp.map(p);
    const float narrow[3] = {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
    float rounded[3];
    kernel.map(narrow, rounded);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_LE(box.low[d], found[d] + 1e-9);
      EXPECT_GE(box.high[d], found[d] - 1e-9);
      EXPECT_NEAR(static_cast<double>(rounded[d]), found[d], 1e-4);
    }
  }
}

TEST(VoxelWarp, IsTheIdentityWithoutDisplacementsOnly) {
  const fsl_grid grid(make_grid({6, 5, 4}, 1.25, true));
  EXPECT_TRUE(made_warp(make_voxel_warp(make_field(grid, [](const vector3&) { return vector3{}; }), grid, grid))
                  .map.is_identity());
  EXPECT_FALSE(made_warp(make_voxel_warp(make_field(grid, wave), grid, grid)).map.is_identity());
}

TEST(VoxelWarp, MeasuresHowFarAPointAndItsReturnAreApart) {
  const fsl_grid grid(make_grid({20, 20, 20}, 2, true));
  const std::vector<std::uint8_t> all(grid.voxel_count(), 1);
  const auto shift = [&](double mm) {
    return made_warp(make_voxel_warp(make_field(grid, [mm](const vector3&) { return vector3{0, mm, 0}; }), grid, grid));
  };
  const inverse_error error = find_inverse_error(grid, shift(4).map, shift(-1).map, grid, all);
  EXPECT_NEAR(error.median_mm, 3, 1e-6);
  EXPECT_NEAR(error.p95_mm, 3, 1e-6);
  EXPECT_EQ(error.points, 20u * 18u * 20u);  // the others leave the image
}

}  // namespace
}  // namespace voxherd
