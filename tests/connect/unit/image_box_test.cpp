#include "src/analyses/connect/fronts.hpp"

#include <gtest/gtest.h>

namespace {

using namespace voxherd;

TEST(ImageBox, ContainsAllVoxelsInsideAndStartsAtABlock) {
  const std::array<std::uint64_t, 3> size{13, 10, 9};
  std::vector<std::uint8_t> inside(13 * 10 * 9, 0);
  for (const auto& [x, y, z] : {std::array{6, 9, 2}, std::array{8, 4, 7}}) inside[(z * 10 + y) * 13 + x] = 1;

  const image_box box = bounding_box(inside, size);

  EXPECT_EQ(box.first, (std::array<std::uint64_t, 3>{4, 4, 0}));
  EXPECT_EQ(box.size, (std::array<std::uint64_t, 3>{5, 6, 8}));
  const auto part = cropped(inside, size, box);
  ASSERT_EQ(part.size(), 5u * 6 * 8);
  EXPECT_EQ(part[(2 * 6 + 5) * 5 + 2], 1);
  EXPECT_EQ(part[(7 * 6 + 0) * 5 + 4], 1);
}

TEST(ImageBox, BoxKeepsItsWorldPosition) {
  tensor_field::tensor_image image;
  image.size = {8, 8, 8};
  image.axes_mm = {0, 2, 0, -2, 0, 0, 0, 0, 3};
  image.origin_mm = {10, 20, 30};
  image.inside.assign(512, 1);
  for (int i = 0; i < 6 * 512; ++i) image.tensor.push_back(static_cast<float>(i));
  const image_box box{{4, 0, 4}, {2, 3, 4}};

  EXPECT_EQ(grid_of(image, box).origin_mm, (std::array<double, 3>{10, 12, 42}));
  EXPECT_EQ(grid_of(image, box).size, box.size);

  const auto part = cropped(image.tensor, image.size, box, 6);
  EXPECT_EQ(part.front(), 6.0f * (4 * 64 + 4));
  EXPECT_EQ(part.back(), 6.0f * (7 * 64 + 2 * 8 + 5) + 5);
  EXPECT_EQ(part.size(), 6u * 24);
}

TEST(ImageBox, IsAllOfAnImageWithNothingInside) {
  const image_box box = bounding_box(std::vector<std::uint8_t>(60, 0), {3, 4, 5});
  EXPECT_EQ(box.first, (std::array<std::uint64_t, 3>{0, 0, 0}));
  EXPECT_EQ(box.size, (std::array<std::uint64_t, 3>{3, 4, 5}));
}

}  // namespace
