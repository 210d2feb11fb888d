#include "mpi/run/staged_input.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <thread>

#include "mpi/result/result_reader.hpp"
#include "mpi/run/run.hpp"
#include "src/scan/node_resources.hpp"
#include "tests/run/support/toy_analysis.hpp"
#include "tests/support/rank_folder.hpp"

namespace fs = std::filesystem;
using namespace voxherd;

namespace {

using toy::world;
using voxherd::batch;

/// Stages that take some time, and that record which rows are loaded.
class slow_stages : public staged_input {
 public:
  explicit slow_stages(std::uint64_t most) : most_(most) {}
  std::uint64_t max_items() const override { return most_; }
  void begin(std::uint64_t first, std::uint64_t last) override {
    if (begun_ > 0 && first >= first_[begun_ % 2] && last <= last_[begun_ % 2]) return;
    if (last - first > most_) throw std::logic_error("a stage that is too large");
    ++begun_;
    first_[begun_ % 2] = first;
    last_[begun_ % 2] = last;
    ready_[begun_ % 2] = false;
    if (begun_ == fails_at_) return;
    coming_ = std::async(std::launch::async, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  }
  bool is_ready() override {
    if (begun_ == fails_at_) throw failure(exit_status::bad_data, "stage is damaged");
    if (coming_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    return ready_[begun_ % 2] = true;
  }
  bool has(const batch& items) const {
    for (int i : {0, 1})
      if (ready_[i] && items.first_item >= first_[i] && items.first_item + items.item_count <= last_[i]) return true;
    return false;
  }
  int begun() const { return begun_; }
  void fail_at(int stage) { fails_at_ = stage; }

 private:
  std::uint64_t most_, first_[2]{}, last_[2]{};
  bool ready_[2]{};
  int begun_ = 0, fails_at_ = -1;
  std::future<void> coming_;
};

/// Loads only available rows from such stages.
class staged_toy : public toy::analysis {
 public:
  staged_toy(slow_stages& input, int stops_at = -1)
      : toy::analysis({11, 7, 6}, std::chrono::microseconds(300)), stages_(input), stops_at_(stops_at) {}
  void load(const batch& items, std::span<std::byte> to) override {
    if (!stages_.has(items)) throw std::logic_error("loaded before it was ready");
    if (stops_at_ > 0 && stages_.begun() >= stops_at_) raise(SIGTERM);
    toy::analysis::load(items, to);
  }
  std::uint64_t max_items() const override { return stages_.max_items(); }
  void begin(std::uint64_t first, std::uint64_t last) override { stages_.begin(first, last); }
  bool is_ready() override { return stages_.is_ready(); }

 private:
  slow_stages& stages_;
  int stops_at_;
};

class StagedRun : public toy::rank_folder {
 protected:
  exit_status run_with(slow_stages& input, const run_settings& settings, int stops_at = -1) {
    staged_toy a(input, stops_at);
    return run(*world, a, settings, toy::host_hooks());
  }
  void expect_correct() {
    world->barrier();
    if (!world->is_root()) return;
    const result_reader r(out_);
    EXPECT_TRUE(r.complete());
    const toy::analysis a({11, 7, 6});
    const auto value = r.read_map("value");
    std::uint64_t wrong = 0;
    for (const std::uint64_t v : a.item_voxels()) wrong += value[v] != toy::toy_value(v, 0);
    EXPECT_EQ(wrong, 0u);
  }
};

const std::vector<batch> plan{{0, 0, 10}, {1, 10, 10}, {2, 20, 5}, {3, 25, 20}, {4, 45, 1}};

TEST(Stages, ContainAsManyConsecutiveBatchesAsFit) {
  const std::vector<std::uint64_t> all{0, 1, 2, 3, 4};
  const auto stages = cut_into_stages(plan, all, 25);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].batches, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(stages[0].first, 0u);
  EXPECT_EQ(stages[0].last, 25u);
  EXPECT_EQ(stages[1].batches, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(stages[1].last, 46u);
  EXPECT_EQ(cut_into_stages(plan, all, staged_input::all_items).size(), 1u);
}

TEST(Stages, OmitFinishedBatches) {
  const std::vector<std::uint64_t> pending{4, 1};
  const auto stages = cut_into_stages(plan, pending, 36);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].batches, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(stages[0].first, 10u);
  EXPECT_EQ(cut_into_stages(plan, pending, 35).size(), 2u) << "rows between two batches also need memory";
  const auto none = cut_into_stages(plan, {}, 1);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_TRUE(none[0].batches.empty());
}

TEST(Stages, RejectABatchThatDoesNotFit) {
  const std::vector<std::uint64_t> all{0, 1, 2, 3, 4};
  try {
    (void)cut_into_stages(plan, all, 19);
    ADD_FAILURE() << "taken";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage);
    EXPECT_NE(std::string(f.what()).find("--host-memory"), std::string::npos) << f.what();
  }
}

TEST(HostMemory, IsForTheValuesOnceOrTwice) {
  nifti_header packed, plain;
  packed.compressed = true;
  packed.volumes = 100;
  packed.bytes_per_value = 4;
  plain = packed;
  plain.compressed = false;
  // 400 bytes per voxel.
  EXPECT_EQ(items_within(400000, {{packed}}, 1000), staged_input::all_items);
  EXPECT_EQ(items_within(399999, {{packed}}, 1000), 399999u / 800);
  EXPECT_EQ(items_within(1, {{packed}}, 1000), 1u);
  EXPECT_EQ(items_within(1, {{plain}}, 1000), staged_input::all_items);
  EXPECT_EQ(items_within(400000, {{packed}, {plain}}, 1000), staged_input::all_items);
  EXPECT_EQ(items_within(400000, {{packed}, {packed}}, 1000), 400000u / (2 * 800));
  packed.bytes_per_value = 8;  // stored as float
  EXPECT_EQ(items_within(400000, {{packed}}, 1000), staged_input::all_items);
  packed.bytes_per_value = 2;
  EXPECT_EQ(items_within(150000, {{packed}}, 1000), 150000u / 400);
}

TEST_F(StagedRun, LoadsEachStageWhenItIsReady) {
  for (const auto schedule : {schedule_kind::dynamic, schedule_kind::in_advance}) {
    for (const std::uint64_t most : {7, 40, 10000}) {
      slow_stages input(most);
      run_settings settings = toy::quiet_settings(out_);
      settings.schedule = schedule;
      settings.batch_items = 5;
      settings.overwrite = true;
      ASSERT_EQ(run_with(input, settings), exit_status::complete);
      EXPECT_GE(input.begun(), most < 100 ? 5 : 1);
      expect_correct();
    }
  }
}

TEST_F(StagedRun, ResumesInTheStageWhereItStopped) {
  run_settings settings = toy::quiet_settings(out_);
  settings.batch_items = 5;
  {
    slow_stages input(20);
    EXPECT_EQ(run_with(input, settings, 4), exit_status::interrupted);
  }
  world->barrier();
  ASSERT_TRUE(fs::exists(out_ + ".part"));
  settings.resume = true;
  slow_stages input(30);
  ASSERT_EQ(run_with(input, settings), exit_status::complete);
  expect_correct();
}

TEST_F(StagedRun, ADamagedFirstStageLeavesNothingADamagedLaterOneFinishedBatches) {
  run_settings settings = toy::quiet_settings(out_);
  settings.batch_items = 5;
  for (const int stage : {1, 3}) {
    slow_stages input(20);
    input.fail_at(stage);
    try {
      run_with(input, settings);
      ADD_FAILURE() << "stage " << stage << " was accepted";
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
    }
    world->barrier();
    EXPECT_EQ(fs::exists(out_ + ".part"), stage == 3);
    EXPECT_FALSE(fs::exists(out_));
    world->barrier();
  }
  settings.resume = true;
  slow_stages input(20);
  ASSERT_EQ(run_with(input, settings), exit_status::complete);
  expect_correct();
}

TEST_F(StagedRun, ADryRunTriesTheMiddle) {
  slow_stages input(20);
  run_settings settings = toy::quiet_settings(out_);
  settings.batch_items = 5;
  settings.dry_run = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_with(input, settings), exit_status::complete);
  (void)testing::internal::GetCapturedStdout();
  EXPECT_EQ(input.begun(), 1);
}

}  // namespace
