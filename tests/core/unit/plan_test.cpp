#include "core/plan.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/step_outputs.hpp"
#include "mpi/result/rows.hpp"

using namespace voxherd;

namespace {

image_grid make_grid(std::uint64_t nx, std::uint64_t ny, std::uint64_t nz) {
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
  const auto batches = make_plan(partition_kind::voxels, voxels, make_grid(10, 1, 1), batch_sizes(4));
  expect_cover(batches, 10);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].item_count, 4u);
  EXPECT_EQ(batches[2].item_count, 2u);
}

TEST(Plan, BatchSizesDecreaseFromTheLargestToTheLast) {
  for (const bool for_slow_ranks : {false, true}) {
    for (const std::uint64_t items : {1, 5, 700, 2048, 2049, 50000, 900416}) {
      for (const auto& [largest, last] :
           {std::pair{14336u, 2048u}, {14336u, 4096u}, {3584u, 128u}, {10u, 1u}, {512u, 512u}}) {
        batch_sizes sizes(largest, last, 24);
        sizes.ends_for_slow_ranks = for_slow_ranks;
        std::vector<std::uint64_t> voxels(items);
        std::iota(voxels.begin(), voxels.end(), 0);
        const auto batches = make_plan(partition_kind::voxels, voxels, make_grid(items, 1, 1), sizes);
        expect_cover(batches, items);
        const std::uint64_t least = for_slow_ranks ? std::max(1u, last / 8) : last;
        for (std::size_t b = 0; b < batches.size(); ++b) {
          EXPECT_LE(batches[b].item_count, b == 0 ? largest : batches[b - 1].item_count);
          if (b + 1 < batches.size()) {
            EXPECT_GE(batches[b].item_count, least);
          }
        }
      }
    }
  }
}

TEST(Plan, OnTheHostBatchesOfTheLast2048ItemsDecreaseTo16) {
  for (const std::uint64_t items : {1, 15, 100, 2047, 2048, 2817, 20000, 900416}) {
    std::vector<std::uint64_t> voxels(items);
    std::iota(voxels.begin(), voxels.end(), 0);
    const std::uint64_t largest = automatic_batch_items(items, 0, 1, 1, 32768);
    const auto batches =
        make_plan(partition_kind::voxels, voxels, make_grid(items, 1, 1), falling_sizes(largest, 0, 32768));
    expect_cover(batches, items);
    for (std::size_t b = 0; b + 1 < batches.size(); ++b) {
      EXPECT_GE(batches[b].item_count, batches[b + 1].item_count);
      EXPECT_GE(batches[b].item_count, batches[b].first_item + 2048 + 128 < items ? 128u : 16u) << items;
    }
    EXPECT_LE(batches.back().item_count, 16u);
  }
}

TEST(Plan, TheLastBatchesAreASmallPartOfTheItems) {
  std::vector<std::uint64_t> voxels(900416);
  std::iota(voxels.begin(), voxels.end(), 0);
  const auto batches =
      make_plan(partition_kind::voxels, voxels, make_grid(900416, 1, 1), falling_sizes(14336, 2048, 32768));
  EXPECT_EQ(batches.front().item_count, 14336u);
  EXPECT_LE(batches.back().item_count, 2048u);
  std::uint64_t small = 0;
  for (const batch& b : batches) small += b.item_count <= 2048 ? b.item_count : 0;
  EXPECT_LT(small, 900416u / 16);
  EXPECT_LT(batches.size(), 128u);
}

TEST(Plan, BatchesOfLargeItemsDecreaseToOne) {
  EXPECT_EQ(falling_sizes(3, 0, 62).last, 1u);
  EXPECT_EQ(falling_sizes(3584, 0, 32768).last, 128u);
  EXPECT_EQ(falling_sizes(3584, 0, 32768).finest, 16u);
  EXPECT_EQ(falling_sizes(62, 4096, 62).last, 62u) << "a GPU gets no batch larger than fits";
}

TEST(Plan, SliceBatchesFollowTheSlicesThatHaveItems) {
  // 2x2 voxels per slice; items in slices 0, 2 and 3.
  const std::vector<std::uint64_t> voxels{1, 3, 8, 12, 13, 15};
  const auto batches = make_plan(partition_kind::slices, voxels, make_grid(2, 2, 5), batch_sizes(100));
  expect_cover(batches, 6);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].item_count, 2u);
  EXPECT_EQ(batches[1].item_count, 1u);
  EXPECT_EQ(batches[2].item_count, 3u);
}

TEST(Plan, OfItemsWithoutVoxelsIsTheSameBySlicesAndByVoxels) {
  const std::vector<std::uint64_t> voxels(37, no_voxel);
  const auto grid = make_grid(2, 2, 5);
  EXPECT_EQ(first_items_of(make_plan(partition_kind::slices, voxels, grid, batch_sizes(10))),
            first_items_of(make_plan(partition_kind::voxels, voxels, grid, batch_sizes(10))));
}

TEST(Plan, ASliceAboveTheLimitIsDividedEvenly) {
  std::vector<std::uint64_t> voxels(25);
  std::iota(voxels.begin(), voxels.end(), 0);
  const auto batches = make_plan(partition_kind::slices, voxels, make_grid(5, 5, 1), batch_sizes(10));
  expect_cover(batches, 25);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(largest_room(batches, {}).items, 9u);
}

TEST(Plan, IsReconstructedFromItsFirstItems) {
  const std::vector<std::uint64_t> first_items{0, 4, 5, 11};
  const auto batches = make_batches(first_items);
  expect_cover(batches, 11);
  EXPECT_EQ(first_items_of(batches), first_items);
}

TEST(AutomaticBatch, FitsIntoFreeMemoryInStepsOf1024) {
  // 0.6 of 100 MB in two lanes of 10 kB per item: 3000 items.
  EXPECT_EQ(automatic_batch_items(1000000, 100000000, 10000, 2, 32768), 2048u);
}

TEST(AutomaticBatch, IsAtMost32768OnALargeDevice) {
  EXPECT_EQ(automatic_batch_items(100000000, std::size_t{1} << 40, 1000, 2, 32768), 32768u);
}

TEST(AutomaticBatch, IsNeverZeroOnATinyDevice) {
  EXPECT_EQ(automatic_batch_items(1000, 100, 10000, 2, 32768), 1u);
  EXPECT_EQ(automatic_batch_items(1000, 10000000, 10000, 1, 32768), 600u);
}

TEST(AutomaticBatch, IsSmallOnTheHost) {
  EXPECT_EQ(automatic_batch_items(10, 0, 10000, 1, 32768), 128u);
  EXPECT_EQ(automatic_batch_items(900000, 0, 10000, 1, 32768), 3584u);
  EXPECT_EQ(automatic_batch_items(100000000, 0, 10000, 1, 32768), 8192u);
}

TEST(AutomaticBatch, IsLargerForInexpensiveItems) {
  constexpr std::uint64_t most = 1 << 20;
  EXPECT_EQ(automatic_batch_items(std::uint64_t{1} << 32, std::size_t{1} << 40, 1000, 2, most), most);
  EXPECT_EQ(automatic_batch_items(std::uint64_t{1} << 24, std::size_t{1} << 40, 1000, 2, most), most / 4);
  EXPECT_EQ(automatic_batch_items(std::uint64_t{1} << 32, 0, 1000, 1, most), most / 16);
  EXPECT_EQ(automatic_batch_items(10, 0, 1000, 1, most), 128u);
}

TEST(AutomaticBatch, RespectsALimitBelowItsSteps) {
  EXPECT_EQ(automatic_batch_items(100000, std::size_t{1} << 40, 1000, 2, 4096), 4096u);
  EXPECT_EQ(automatic_batch_items(100000, std::size_t{1} << 40, 1000, 2, 100), 100u);
  EXPECT_EQ(automatic_batch_items(640000, std::size_t{1} << 40, 1000, 2, 131072, 65536), 65536u);
}

TEST(Plan, SlicesOfUnorderedItemsAreVoxels) {
  const std::vector<std::uint64_t> voxels{3, 1, 8, 8, 0, 15};
  const auto batches = make_plan(partition_kind::slices, voxels, make_grid(2, 2, 5), batch_sizes(4));
  expect_cover(batches, 6);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].item_count, 4u);
}

TEST(Plan, SlicesMayHaveManyItemsPerVoxel) {
  const std::vector<std::uint64_t> voxels{1, 1, 1, 8, 8, 15};
  const auto batches = make_plan(partition_kind::slices, voxels, make_grid(2, 2, 5), batch_sizes(100));
  expect_cover(batches, 6);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].item_count, 3u);
}

TEST(Plan, WithoutItemsHasNoBatches) {
  for (const auto kind : {partition_kind::slices, partition_kind::voxels}) {
    EXPECT_TRUE(make_plan(kind, {}, make_grid(2, 2, 2), batch_sizes(4)).empty());
  }
  EXPECT_TRUE(make_batches(first_items_of({})).empty());
}

TEST(BatchItemsForPoints, GiveBatchesOf256Megabytes) {
  const std::vector<output_spec> outputs{{"position", element_type::float32, {3}, output_layout::points, "mm", ""},
                                         {"FA", element_type::float32, {}, output_layout::points, "1", ""},
                                         {"length", element_type::float32, {}, output_layout::items, "mm", ""}};
  // 16 bytes per point, 1024 points per item.
  const std::vector<std::uint64_t> offsets{0, 0, 3072, 4096, 4096};
  EXPECT_EQ(batch_items_for_points(outputs, offsets), 16384u);
  EXPECT_EQ(batch_items_for_points(outputs, std::vector<std::uint64_t>{0, std::uint64_t{1} << 40}), 1u);
  EXPECT_GE(batch_items_for_points(outputs, std::vector<std::uint64_t>{0, 0}), std::uint64_t{1} << 40);
  EXPECT_GE(batch_items_for_points({outputs[2]}, {}), std::uint64_t{1} << 40);
}

TEST(AutomaticBatch, IsAFewLargeItemsOnTheHost) {
  EXPECT_EQ(automatic_batch_items(116, 0, 1 << 20, 1, 16), 1u);
  EXPECT_EQ(automatic_batch_items(1000, 0, 1 << 20, 1, 62), 3u);
  EXPECT_EQ(automatic_batch_items(100000, 0, 1 << 20, 1, 127), 127u);
}
