#include "src/scan/grid_space.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace voxherd {
namespace {

image_grid make_grid(const matrix3& axes, const vector3& origin) {
  image_grid g;
  g.size = {5, 6, 7};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) g.voxel_to_world[4 * r + c] = axes[3 * r + c];
    g.voxel_to_world[4 * r + 3] = origin[r];
  }
  g.voxel_to_world[15] = 1;
  return g;
}

TEST(GridSpace, ConvertsToTheWorldAndBack) {
  const grid_space space(make_grid({1.5, 0.2, -0.3, 0.1, 2, 0.4, 0, -0.5, 2.5}, {10, -20, 30}));
  const vector3 w = space.to_world({1, 2, 3});
  EXPECT_NEAR(w[0], 1.5 + 0.4 - 0.9 + 10, 1e-12);
  EXPECT_NEAR(w[1], 0.1 + 4 + 1.2 - 20, 1e-12);
  EXPECT_NEAR(w[2], -1 + 7.5 + 30, 1e-12);
  const vector3 back = space.to_index(w);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(back[i], static_cast<double>(i) + 1, 1e-12);
}

TEST(GridSpace, TheBvecFrameMirrorsTheFirstAxisOfAPositiveDeterminant) {
  const matrix3 positive = bvec_frame(make_grid({2, 0, 0, 0, 3, 0, 0, 0, 4}, {}));
  EXPECT_EQ(positive, (matrix3{-1, 0, 0, 0, 1, 0, 0, 0, 1}));
  const matrix3 negative = bvec_frame(make_grid({-2, 0, 0, 0, 3, 0, 0, 0, 4}, {}));
  EXPECT_EQ(negative, (matrix3{-1, 0, 0, 0, 1, 0, 0, 0, 1}));
  // Image axes y, z, x: the determinant is positive.
  const matrix3 turned = bvec_frame(make_grid({0, 0, 2, 2, 0, 0, 0, 2, 0}, {}));
  EXPECT_EQ(turned, (matrix3{0, 0, 1, -1, 0, 0, 0, 1, 0}));
}

TEST(GridSpace, ShearedAxesGiveARotation) {
  const matrix3 f = bvec_frame(make_grid({2, 0.02, 0, 0, 3, 0.03, 0.01, 0, 4}, {}));
  const matrix3 one = product(f, transposed(f));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(one[i], i % 4 == 0 ? 1 : 0, 1e-14);
  EXPECT_LT(determinant(f), 0);
  EXPECT_GT(f[4], 0.9999);
}

TEST(GridSpace, TensorRotatesWithItsAxis) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  float d[6] = {3, 0, 0, 1, 0, 1};
  rotate_tensor({c, -s, 0, s, c, 0, 0, 0, 1}, d);
  const double expected[6] = {1 + 2 * c * c, 2 * c * s, 0, 1 + 2 * s * s, 0, 1};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(d[i], expected[i], 1e-6);
}

}  // namespace
}  // namespace voxherd
