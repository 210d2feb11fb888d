#include "src/view/page_grid.hpp"

#include <gtest/gtest.h>

#include "src/scan/grid_space.hpp"

namespace voxherd::view {
namespace {

/// First axis to the front, second downwards, third to the left, a little oblique.
image_grid make_grid() {
  image_grid g;
  g.size = {4, 3, 2};
  g.voxel_to_world = {0.1, 0.2, -2.5, 10, 1.75, 0.1, 0.1, -20, 0.1, -2, 0.3, 5, 0, 0, 0, 1};
  return g;
}

TEST(PageGrid, KeepsTheWorldPositionOfEveryVoxel) {
  const image_grid file = make_grid();
  const page_grid page(file);
  EXPECT_EQ(page.grid().size, (std::array<std::uint64_t, 3>{2, 4, 3}));
  const grid_space before(file), after(page.grid());
  const auto& n = page.grid().size;
  for (std::uint64_t v = 0; v < file.voxel_count(); ++v) {
    const auto at = [](std::uint64_t i) { return static_cast<double>(i); };
    const vector3 world = before.to_world({at(v % 4), at(v / 4 % 3), at(v / 12)});
    const std::uint64_t p = page.on_page(v);
    const vector3 same = after.to_world({at(p % n[0]), at(p / n[0] % n[1]), at(p / n[0] / n[1])});
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(world[d], same[d], 1e-9) << v;
  }
}

TEST(PageGrid, HasAxesToTheRightTheFrontAndUpwards) {
  const page_grid page(make_grid());
  const auto& m = page.grid().voxel_to_world;
  for (std::size_t d = 0; d < 3; ++d) EXPECT_GT(m[5 * d], 1);
}

TEST(PageGrid, ReordersOneComponent) {
  const page_grid page(make_grid());
  std::vector<float> values(48);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::vector<float> second = page.reordered(values, 2, 1);
  ASSERT_EQ(second.size(), 24u);
  for (std::uint64_t v = 0; v < 24; ++v) EXPECT_EQ(second[page.on_page(v)], values[2 * v + 1]);
  EXPECT_EQ(page.nifti(second).size(), 352 + 24 * sizeof(float));
}

TEST(PageGrid, FindsTheVoxelInTheMiddleOfAMask) {
  const page_grid page(make_grid());
  EXPECT_EQ(page.middle_of({}), (std::array<std::uint64_t, 3>{1, 2, 1}));
  std::vector<std::uint64_t> line;  // x = 0, y = 1 to 3, z = 2
  for (std::uint64_t v = 0; v < 24; ++v) {
    const std::uint64_t p = page.on_page(v);
    if (p % 2 == 0 && p / 2 % 4 > 0 && p / 8 == 2) line.push_back(v);
  }
  ASSERT_EQ(line.size(), 3u);
  EXPECT_EQ(page.middle_of(line), (std::array<std::uint64_t, 3>{0, 2, 2}));
}

}  // namespace
}  // namespace voxherd::view
