#include "mpi/result/rows.hpp"

#include <gtest/gtest.h>

using namespace voxherd;

TEST(BoxesOf, CoverEveryIntervalOfASmallGridInOrderWithAtMostFiveBoxes) {
  const std::array<std::uint64_t, 3> size{3, 4, 5};
  for (std::uint64_t first = 0; first <= 60; ++first) {
    for (std::uint64_t end = first; end <= 60; ++end) {
      std::vector<std::uint64_t> visited;
      const auto boxes = cut_into_boxes({first, end}, size);
      EXPECT_LE(boxes.size(), 5u);
      for (const grid_box& box : boxes) {
        for (std::uint64_t z = 0; z < box.count[0]; ++z) {
          for (std::uint64_t y = 0; y < box.count[1]; ++y) {
            for (std::uint64_t x = 0; x < box.count[2]; ++x) {
              visited.push_back(box.start[2] + x + 3 * (box.start[1] + y + 4 * (box.start[0] + z)));
            }
          }
        }
      }
      ASSERT_EQ(visited.size(), end - first);
      for (std::uint64_t i = 0; i < visited.size(); ++i) ASSERT_EQ(visited[i], first + i);
    }
  }
}

TEST(IntervalOf, GivesEachVoxelToExactlyOneBatch) {
  const std::vector<std::uint64_t> voxels{4, 5, 9, 17, 18};
  const voxel_interval a = batch_interval({0, 0, 2}, voxels, 30), b = batch_interval({1, 2, 1}, voxels, 30),
                       c = batch_interval({2, 3, 2}, voxels, 30);
  EXPECT_EQ(a.first, 0u);
  EXPECT_EQ(a.end, 9u);
  EXPECT_EQ(b.first, 9u);
  EXPECT_EQ(b.end, 17u);
  EXPECT_EQ(c.first, 17u);
  EXPECT_EQ(c.end, 30u);
}
