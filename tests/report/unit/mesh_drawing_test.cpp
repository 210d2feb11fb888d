#include <gtest/gtest.h>

#include <cmath>

#include "src/show/mesh_drawing.hpp"

namespace voxherd::report {
namespace {

constexpr colour red{200, 0, 0}, green{0, 200, 0}, black{0, 0, 0};

/// Squares of 10 mm across x: at x = 0 red, at x = 4 mm green.
surface two_squares() {
  surface s;
  for (const float x : {0.0f, 4.0f}) {
    const auto n = static_cast<std::uint32_t>(s.points_mm.size());
    for (const float z : {20.0f, 30.0f})
      for (const float y : {0.0f, 10.0f}) s.points_mm.push_back({x, y, z});
    s.triangles.insert(s.triangles.end(), {{n, n + 1, n + 2}, {n + 3, n + 2, n + 1}});
  }
  return s;
}

colour of_square(const std::array<std::uint32_t, 3>& corners, const std::array<double, 3>&) {
  return corners[0] < 4 ? red : green;
}

colour pixel(const rgb_image& image, std::size_t x, std::size_t y) {
  const std::uint8_t* p = &image.rgb[3 * (y * image.width + x)];
  return {p[0], p[1], p[2]};
}

TEST(MeshDrawing, TheNearerTriangleHidesTheOther) {
  const surface mesh = two_squares();
  for (const auto& [side, expected] :
       {std::pair{mesh_side{"from the left", 1, 2, -1}, red}, std::pair{mesh_side{"from the right", 1, 2, 1}, green}}) {
    const rgb_image image = draw_mesh(mesh, side, 52, of_square).image;
    EXPECT_EQ(image.width, 52u);
    EXPECT_EQ(image.height, 52u);
    EXPECT_EQ(pixel(image, 26, 26), expected) << side.name;
    EXPECT_EQ(pixel(image, 0, 0), black);
  }
}

TEST(MeshDrawing, ThePictureSaysWhereItIs) {
  surface mesh = two_squares();
  mesh.points_mm[0] = {0, -90, 20};  // to the back
  const mesh_picture left = draw_mesh(mesh, {"from the left", 1, 2, -1}, 104, of_square);
  EXPECT_NEAR(left.mm_per_pixel, 1, 1e-9);
  EXPECT_NEAR(left.left_mm, 12, 1e-9);  // the front is on the left
  EXPECT_NEAR(left.top_mm, 32, 1e-9);
  EXPECT_EQ(pixel(left.image, 7, 7), red);  // y = 4.5, z = 24.5
  const mesh_picture right = draw_mesh(mesh, {"from the right", 1, 2, 1}, 104, of_square);
  EXPECT_NEAR(right.left_mm, -92, 1e-9);
  EXPECT_EQ(pixel(right.image, 96, 7), green);
}

TEST(MeshDrawing, SlopesAreDarkerAndEdgesAreNotDrawn) {
  const surface mesh = two_squares();
  const rgb_image image = draw_mesh(mesh, {"from above", 0, 1, 1}, 52, of_square).image;
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t x = 0; x < image.width; ++x) EXPECT_EQ(pixel(image, x, y), black);
  surface slope;
  slope.points_mm = {{0, 0, 0}, {10, 0, 10}, {0, 10, 0}, {10, 10, 10}};
  slope.triangles = {{0, 1, 2}, {3, 2, 1}};
  const rgb_image from_above = draw_mesh(slope, {"from above", 0, 1, 1}, 52, of_square).image;
  const double light = 0.35 + 0.65 * std::sqrt(0.5);
  EXPECT_NEAR(pixel(from_above, 26, 26)[0], light * red[0], 1);
}

}  // namespace
}  // namespace voxherd::report
