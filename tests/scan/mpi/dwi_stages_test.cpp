// A compressed series read in stages: the same rows, and the same failures and signals on all ranks.
#include <chrono>
#include <csignal>

#include "tests/scan/support/dwi_series_case.hpp"

namespace voxherd {
namespace {

/// A limit that allows 30 voxels twice, with 37 + 9 floats per voxel.
const std::vector<std::string> with_room_for_30{"--mask",          "mask.nii",      "--grad-dev",
                                                "grad_dev.nii.gz", "--host-memory", "=0.00001110"};

TEST_F(DwiSeries, RowsBeyondTheLimitAreTheSameInStages) {
  auto whole = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  EXPECT_EQ(whole.max_items(), staged_input::all_items);
  EXPECT_EQ(whole.later_bytes(), 0U);
  const auto expected = load_all(whole, 1000);
  auto series = begin(with_room_for_30, "dwi.nii.gz");
  ASSERT_EQ(series.max_items(), 30U);
  EXPECT_GE(series.later_bytes(), 30U * 46 * 4);
  EXPECT_LT(series.later_bytes(), 46U * (30 * 4 + 64));
  const std::uint64_t items = series.item_voxels().size();
  const std::size_t width = series.floats_per_item();
  // The second time it starts again from the beginning.
  for (const input_layout layout : {input_layout::rows, input_layout::columns}) {
    std::vector<float> found(items * width, -1);
    std::uint64_t stages = 0;
    for_each_stage(*world, series, items, [&](std::uint64_t first, std::uint64_t last) {
      ++stages;
      for (; first < last; first += 7) {
        const std::uint64_t count = std::min<std::uint64_t>(7, last - first);
        std::vector<float> values(count * width);
        series.load({0, first, count}, values, layout);
        const value_places places = value_places::in(layout, values.data(), count, width);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t k = 0; k < width; ++k) found[(first + i) * width + k] = places.at(i, k);
      }
    });
    EXPECT_EQ(stages, (items + 29) / 30);
    EXPECT_GE(stages, 3U);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(DwiSeries, StageStartedElsewhereReplacesTheFirstOne) {
  auto whole = open({"--mask", "mask.nii", "--grad-dev", "grad_dev.nii.gz"}, "dwi.nii.gz");
  auto series = begin(with_room_for_30, "dwi.nii.gz");
  series.begin(101, 128);
  ASSERT_TRUE(await_stage(*world, series));
  const std::size_t width = series.floats_per_item();
  std::vector<float> found(27 * width), expected(27 * width), one(width);
  series.load({0, 101, 27}, found);
  whole.load({0, 101, 27}, expected);
  EXPECT_EQ(found, expected);
  EXPECT_THROW(series.load({0, 3, 1}, one), failure);
  series.begin(110, 128);  // is there
  EXPECT_TRUE(series.is_ready());
  EXPECT_THROW(series.begin(0, 31), failure);
  world->barrier();
}

TEST_F(DwiSeries, DamageInStagesFailsOnEveryRank) {
  write_series_with_wrong_checksum();
  expect_refused(with_room_for_30, exit_status::bad_data, {"crc.nii.gz", "damaged"}, "crc.nii.gz");
}

TEST_F(DwiSeries, SignalToOneRankEndsTheWaitOnAllRanks) {
  /// Never ready.
  class slow_input : public staged_input {
    void begin(std::uint64_t, std::uint64_t) override {}
    bool is_ready() override { return false; }
  } slow;
  for (int told = 0; told < world->size(); ++told) {
    const stop_signals signals;
    if (world->rank() == told) raise(SIGTERM);
    const auto start = std::chrono::steady_clock::now();
    if (told % 2 == 0) {
      EXPECT_FALSE(await_stage(*world, slow));
    } else {
      try {
        await_stage_or_throw(*world, slow);
        ADD_FAILURE() << "it is never there";
      } catch (const failure& f) {
        EXPECT_EQ(f.status, exit_status::interrupted);
        EXPECT_STREQ(f.what(), "stopped on signal SIGTERM while reading the input; repeat the command");
      }
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    world->barrier();
  }
}

}  // namespace
}  // namespace voxherd
