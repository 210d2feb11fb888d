#include "mpi/plan.hpp"

#include <gtest/gtest.h>

#include <numeric>

using namespace voxherd;

namespace {

image_grid grid_of(std::uint64_t nx, std::uint64_t ny, std::uint64_t nz) {
  image_grid grid;
  grid.size = {nx, ny, nz};
  return grid;
}

void expect_cover(const std::vector<batch>& batches, std::uint64_t items) {
  std::uint64_t next = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    EXPECT_EQ(batches[b].number, b);
    EXPECT_EQ(batches[b].first_item, next);
    EXPECT_GT(batches[b].item_count, 0u);
    next += batches[b].item_count;
  }
  EXPECT_EQ(next, items);
}

}  // namespace

TEST(Plan, VoxelBatchesAreConsecutiveAndOnlyTheLastIsShort) {
  std::vector<std::uint64_t> voxels(10);
  std::iota(voxels.begin(), voxels.end(), 0);
  const auto batches = make_plan(partition_kind::voxels, voxels, grid_of(10, 1, 1), 4);
  expect_cover(batches, 10);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].item_count, 4u);
  EXPECT_EQ(batches[2].item_count, 2u);
}

TEST(Plan, SliceBatchesFollowTheSlicesThatHaveItems) {
  // 2x2 voxels a slice; items in slices 0, 2 and 3.
  const std::vector<std::uint64_t> voxels{1, 3, 8, 12, 13, 15};
  const auto batches = make_plan(partition_kind::slices, voxels, grid_of(2, 2, 5), 100);
  expect_cover(batches, 6);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].item_count, 2u);
  EXPECT_EQ(batches[1].item_count, 1u);
  EXPECT_EQ(batches[2].item_count, 3u);
}

TEST(Plan, ASliceAboveTheLimitIsCutEvenly) {
  std::vector<std::uint64_t> voxels(25);
  std::iota(voxels.begin(), voxels.end(), 0);
  const auto batches = make_plan(partition_kind::slices, voxels, grid_of(5, 5, 1), 10);
  expect_cover(batches, 25);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(largest_batch(batches), 9u);
}

TEST(Plan, ComesBackFromItsFirstItems) {
  const std::vector<std::uint64_t> first_items{0, 4, 5, 11};
  const auto batches = batches_of(first_items);
  expect_cover(batches, 11);
  EXPECT_EQ(first_items_of(batches), first_items);
}

TEST(AutomaticBatch, FitsTheFreeMemoryInStepsOf1024) {
  // 0.6 of 100 MB in two lanes of 10 kB an item: 3000 items.
  EXPECT_EQ(automatic_batch_items(1000000, 100000000, 10000, 2), 2048u);
}

TEST(AutomaticBatch, IsAtMost32768OnALargeDevice) {
  EXPECT_EQ(automatic_batch_items(100000000, std::size_t{1} << 40, 1000, 2), 32768u);
}

TEST(AutomaticBatch, NeverIsZeroOnATinyDevice) {
  EXPECT_EQ(automatic_batch_items(1000, 100, 10000, 2), 1u);
  EXPECT_EQ(automatic_batch_items(1000, 10000000, 10000, 1), 600u);
}

TEST(AutomaticBatch, IsSmallOnTheHost) {
  EXPECT_EQ(automatic_batch_items(10, 0, 10000, 1), 128u);
  EXPECT_EQ(automatic_batch_items(900000, 0, 10000, 1), 3584u);
}
