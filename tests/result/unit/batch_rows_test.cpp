#include "mpi/result/rows.hpp"

#include <gtest/gtest.h>

#include "mpi/result/result_layout.hpp"

using namespace voxherd;

namespace {

const std::vector<std::uint64_t> offsets{0, 0, 3, 4, 14, 14, 16};  // items of 0, 3, 1, 10, 0 and 2 points

std::vector<std::uint64_t> counts_of(const std::vector<batch>& pieces) {
  std::vector<std::uint64_t> counts;
  std::uint64_t next = 0;
  for (const batch& p : pieces) {
    EXPECT_EQ(p.first_item, next);
    next += p.item_count;
    counts.push_back(p.item_count);
  }
  EXPECT_EQ(next, 6u);
  return counts;
}

using numbers = std::vector<std::uint64_t>;

}  // namespace

TEST(BatchRows, OfItemsAreTheItemsAndOfPointsTheirPoints) {
  const batch items{7, 2, 3};
  EXPECT_EQ(batch_rows(items, output_layout::items, {}).first, 2u);
  EXPECT_EQ(batch_rows(items, output_layout::items, {}).count, 3u);
  EXPECT_EQ(batch_rows(items, output_layout::points, offsets).first, 3u);
  EXPECT_EQ(batch_rows(items, output_layout::points, offsets).count, 11u);
}

TEST(BatchRoom, IsThatOfTheMaximumItemsAndPoints) {
  const std::vector<batch> plan{{0, 0, 3}, {1, 3, 1}, {2, 4, 2}};
  const batch_room room = largest_room(plan, offsets);
  EXPECT_EQ(room.items, 3u);
  EXPECT_EQ(room.points, 10u);
  EXPECT_EQ(room.rows(output_layout::points), 10u);
  EXPECT_EQ(room.rows(output_layout::items), 3u);
  EXPECT_EQ(largest_room({}, {}).items, 0u);
}

TEST(Pieces, ContainCompleteItemsUpToTheirLimits) {
  EXPECT_EQ(counts_of(cut_into_pieces(offsets, 4)), (numbers{3, 1, 2}));
  EXPECT_EQ(counts_of(cut_into_pieces(offsets, 1)), (numbers{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(counts_of(cut_into_pieces(offsets, 100)), (numbers{6}));
  EXPECT_EQ(counts_of(cut_into_pieces(offsets, 100, 4)), (numbers{4, 2}));
}

TEST(Pieces, OfNoItemsDoNotExist) {
  EXPECT_TRUE(cut_into_pieces(numbers{0}, 10).empty());
  EXPECT_TRUE(cut_into_pieces({}, 10).empty());
}

TEST(DataBytes, CountsPointsTheirOffsetsAndTheArraysForVtk) {
  const std::vector<std::uint64_t> voxels(6, 0);
  result_layout layout;
  layout.grid.size = {4, 4, 4};
  layout.item_voxels = voxels;
  const std::uint64_t before = data_bytes(layout);
  layout.point_offsets = offsets;
  layout.outputs = {{"FA", element_type::float32, {}, output_layout::points, "1", ""}};
  EXPECT_EQ(data_bytes(layout) - before, 7 * 8 + 16 * 4u);
  layout.outputs.push_back({"position", element_type::float32, {3}, output_layout::points, "mm", ""});
  EXPECT_EQ(data_bytes(layout) - before, 7 * 8 + 16 * (4 + 12 + 8) + 6 + 3 * 8u);
}
