#include "mpi/run/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "mpi/result/result_reader.hpp"
#include "mpi/run/signals.hpp"
#include "tests/run/support/ragged_toy.hpp"
#include "tests/run/support/small_device.hpp"
#include "tests/run/support/toy_analysis.hpp"
#include "tests/support/rank_folder.hpp"

namespace fs = std::filesystem;
using namespace voxherd;

namespace {

using toy::world;

class Run : public toy::rank_folder {
 protected:
  /// Compares every byte of every output with the value that follows from the voxel's index, on rank 0.
  void expect_correct(const std::string& path, const toy::analysis& a) {
    world->barrier();
    if (!world->is_root()) return;
    const result_reader r(path);
    ASSERT_EQ(r.item_voxels(), a.item_voxels());
    const auto label = r.read_map("label"), value = r.read_map("value"), direction = r.read_map("direction");
    const auto draws = r.read_items("draws", 0, a.item_voxels().size());
    std::uint64_t item = 0, wrong = 0;
    for (std::uint64_t v = 0; v < a.grid().voxel_count(); ++v) {
      const bool in_mask = item < a.item_voxels().size() && a.item_voxels()[item] == v;
      wrong += label[v] != (in_mask ? toy::label_of(v) : 0);
      wrong += value[v] != (in_mask ? toy::toy_value(v, 0) : 0);
      for (std::uint64_t c = 0; c < 3; ++c) wrong += direction[3 * v + c] != (in_mask ? toy::toy_value(v, 1 + c) : 0);
      for (std::uint64_t k = 0; in_mask && k < toy::samples; ++k) {
        wrong += draws[toy::samples * item + k] != toy::toy_value(v, 4 + k);
      }
      item += in_mask ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0u);
    for (const batch& b : r.batches()) EXPECT_EQ(r.compute_checksum(b), r.journal()[b.number].checksum) << b.number;
    EXPECT_TRUE(r.complete());
    EXPECT_FALSE(fs::exists(path + ".part"));
    EXPECT_FALSE(fs::exists(path + ".lock"));
  }

  exit_status run_toy(toy::analysis& a, const run_settings& settings) {
    return run(*world, a, settings, toy::host_hooks());
  }

  /// The file of a killed run: OUT.part with some of the batches.
  void leave_unfinished(const toy::analysis& a, std::uint64_t batch_items, std::uint64_t done) {
    run_settings settings = toy::quiet_settings(out_);
    settings.batch_items = batch_items;
    class stopping : public toy::analysis {
     public:
      stopping(const toy::analysis& like, std::uint64_t after) : toy::analysis(like), left_(after) {}
      void load(const batch& items, std::span<std::byte> input) override {
        if (left_-- == 0) raise(SIGTERM);
        toy::analysis::load(items, input);
      }

     private:
      std::uint64_t left_;
    } a_stopping(a, done);
    EXPECT_EQ(run_toy(a_stopping, settings), exit_status::interrupted);
    world->barrier();
  }
};

std::string error_message(const std::function<void()>& work, exit_status expected) {
  try {
    work();
  } catch (const failure& f) {
    EXPECT_EQ(f.status, expected);
    return f.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST_F(Run, WritesTheSameBytesForAnyPartitionBatchSizeScheduleAndLaneCount) {
  for (const auto partition : {partition_kind::slices, partition_kind::voxels}) {
    for (const auto schedule : {schedule_kind::dynamic, schedule_kind::in_advance, schedule_kind::blocks}) {
      for (const std::uint64_t batch_items : {0, 7, 100, 100000}) {
        for (const int lanes : {1, 2}) {
          toy::analysis a({11, 7, 6}, std::chrono::microseconds(400), lanes);
          run_settings settings = toy::quiet_settings(out_);
          settings.partition = partition;
          settings.schedule = schedule;
          settings.batch_items = batch_items;
          settings.overwrite = true;
          ASSERT_EQ(run_toy(a, settings), exit_status::complete);
          expect_correct(out_, a);
        }
      }
    }
  }
}

TEST_F(Run, SplitsBatchesThatDoNotFitTheDevice) {
  for (const std::uint64_t max_items : {1, 10, 64}) {
    toy::analysis a({11, 7, 6});
    toy::small_device_log log;
    toy::small_device device(a, max_items, log);
    run_settings settings = toy::quiet_settings(out_);
    settings.batch_items = 100;
    settings.overwrite = true;
    ASSERT_EQ(run(*world, device, settings, toy::host_hooks()), exit_status::complete);
    expect_correct(out_, a);
    EXPECT_LE(log.largest, max_items);
    EXPECT_GT(world->all_reduce(reduction::sum, log.refused), 0);
  }
}

TEST_F(Run, ARankWithoutWorkIsHarmless) {
  toy::analysis a({3, 2, 1});
  run_settings settings = toy::quiet_settings(out_);
  settings.batch_items = 1000;
  ASSERT_EQ(run_toy(a, settings), exit_status::complete);
  expect_correct(out_, a);
}

TEST_F(Run, ARankAtATenthOfTheSpeedDoesNotChangeTheResult) {
  for (const int slow : {0, world->size() - 1}) {
    for (const auto partition : {partition_kind::slices, partition_kind::voxels}) {
      toy::analysis a({11, 7, 6}, std::chrono::microseconds(world->rank() == slow ? 10000 : 1000));
      run_settings settings = toy::quiet_settings(out_);
      settings.partition = partition;
      settings.batch_items = 8;
      settings.overwrite = true;
      ASSERT_EQ(run_toy(a, settings), exit_status::complete);
      expect_correct(out_, a);
    }
  }
}

TEST_F(Run, StopsWhileASlowRankKeepsOthersWaiting) {
  class stopping : public toy::analysis {
   public:
    stopping(std::chrono::microseconds slowest, bool stops) : toy::analysis({11, 7, 6}, slowest), stops_(stops) {}
    void load(const batch& items, std::span<std::byte> input) override {
      if (stops_ && loaded_++ == 3) raise(SIGTERM);
      toy::analysis::load(items, input);
    }

   private:
    bool stops_;
    int loaded_ = 0;
  } a(std::chrono::microseconds(world->rank() == world->size() - 1 ? 20000 : 500), world->is_root());
  run_settings settings = toy::quiet_settings(out_);
  settings.batch_items = 5;
  EXPECT_EQ(run_toy(a, settings), exit_status::interrupted);
  settings.resume = true;
  toy::analysis again({11, 7, 6});
  ASSERT_EQ(run_toy(again, settings), exit_status::complete);
  expect_correct(out_, again);
}

TEST_F(Run, RanksWithAndWithoutAGpuShareOneFileOfKindMixed) {
  device_hooks hooks = toy::host_hooks();
  hooks.kind = device_kind::mixed;
  if (world->is_root()) hooks.free_bytes = std::size_t{1} << 30;
  toy::analysis a({60, 60, 20}, std::chrono::microseconds(200), world->is_root() ? 2 : 1);
  run_settings settings = toy::quiet_settings(out_);
  ASSERT_EQ(run(*world, a, settings, hooks), exit_status::complete);
  expect_correct(out_, a);
  if (world->is_root()) {
    const result_reader r(out_);
    EXPECT_EQ(r.configuration().at("backend"), "mixed");
    EXPECT_EQ(r.batches().front().item_count, 4096u) << "made for the GPU";
    EXPECT_LE(r.batches().back().item_count, 512u) << "an eighth, for the cores";
  }
}

TEST_F(Run, AnAutomaticPlanIsTheSameForAnyNumberOfRanks) {
  toy::analysis a({60, 60, 70});
  run_settings settings = toy::quiet_settings(out_);
  ASSERT_EQ(run_toy(a, settings), exit_status::complete);
  expect_correct(out_, a);
  if (!world->is_root()) return;
  const std::vector<batch> batches = result_reader(out_).batches();
  EXPECT_EQ(batches.front().item_count, 640u) << "1/256 of the items";
  EXPECT_LE(batches.back().item_count, 128u);
}

TEST_F(Run, ResumesAnUnfinishedFile) {
  toy::analysis a({11, 7, 6}, std::chrono::microseconds(500));
  leave_unfinished(a, 5, 4);
  ASSERT_TRUE(fs::exists(out_ + ".part"));
  run_settings settings = toy::quiet_settings(out_);
  settings.resume = true;
  settings.batch_items = 77;
  settings.json = (folder_ / "times.json").string();
  ASSERT_EQ(run_toy(a, settings), exit_status::complete);
  expect_correct(out_, a);
  if (world->is_root()) {
    std::ifstream times(settings.json);
    const auto summary = nlohmann::json::parse(times);
    EXPECT_GT(summary.at("resumed_batches").get<int>(), 0);
    EXPECT_EQ(result_reader(out_).batches().front().item_count, 5u) << "the plan comes from the file";
  }
}

TEST_F(Run, RepeatsADamagedBatch) {
  toy::analysis a({11, 7, 6}, std::chrono::microseconds(500));
  leave_unfinished(a, 5, 6);
  if (world->is_root()) {
    std::uint64_t at = 0;
    {
      const result_reader r(out_ + ".part");
      while (at < r.journal().size() && r.journal()[at].done == 0) ++at;
      ASSERT_LT(at, r.journal().size());
      at = r.batches()[at].first_item;
    }
    std::array<float, toy::samples> row{};
    for (std::uint64_t k = 0; k < toy::samples; ++k) row[k] = toy::toy_value(a.item_voxels()[at], 4 + k);
    std::fstream file(out_ + ".part", std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto found = bytes.find(std::string(reinterpret_cast<const char*>(row.data()), sizeof row));
    ASSERT_NE(found, bytes.npos);
    file.seekp(static_cast<std::streamoff>(found));
    file.put('!');
  }
  world->barrier();
  run_settings settings = toy::quiet_settings(out_);
  settings.resume = true;
  ASSERT_EQ(run_toy(a, settings), exit_status::complete);
  expect_correct(out_, a);
}

TEST_F(Run, RefusesToResumeADifferentStudyAndNamesTheDifference) {
  toy::analysis a({11, 7, 6}, std::chrono::microseconds(500));
  leave_unfinished(a, 5, 2);
  run_settings settings = toy::quiet_settings(out_);
  settings.resume = true;
  settings.configuration["seed"] = 2;
  std::string said = error_message([&] { run_toy(a, settings); }, exit_status::usage);
  EXPECT_NE(said.find("seed: 1 in the file, 2 now"), said.npos) << said;
  settings.configuration["seed"] = 1;
  settings.provenance["inputs"]["dwi"]["xxh64"] = "1234";
  said = error_message([&] { run_toy(a, settings); }, exit_status::usage);
  EXPECT_NE(said.find("inputs.dwi.xxh64"), said.npos) << said;
}

TEST_F(Run, ReplacesAResultOnlyOnRequest) {
  toy::analysis a({5, 4, 3});
  run_settings settings = toy::quiet_settings(out_);
  ASSERT_EQ(run_toy(a, settings), exit_status::complete);
  std::string said = error_message([&] { run_toy(a, settings); }, exit_status::usage);
  EXPECT_NE(said.find("--overwrite"), said.npos) << said;
  settings.resume = true;
  EXPECT_EQ(run_toy(a, settings), exit_status::complete) << "already complete";
  settings.resume = false;
  settings.overwrite = true;
  EXPECT_EQ(run_toy(a, settings), exit_status::complete);
}

TEST_F(Run, AnUnfinishedFileRequiresResumeOrOverwrite) {
  toy::analysis a({11, 7, 6}, std::chrono::microseconds(500));
  leave_unfinished(a, 5, 2);
  run_settings settings = toy::quiet_settings(out_);
  const std::string said = error_message([&] { run_toy(a, settings); }, exit_status::usage);
  EXPECT_NE(said.find("--resume"), said.npos) << said;
  EXPECT_NE(said.find("--overwrite"), said.npos) << said;
}

TEST_F(Run, ADryRunLeavesNothing) {
  toy::analysis a({5, 4, 3});
  run_settings settings = toy::quiet_settings(out_);
  settings.dry_run = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_toy(a, settings), exit_status::complete);
  const std::string said = testing::internal::GetCapturedStdout();
  world->barrier();
  EXPECT_TRUE(fs::is_empty(folder_));
  if (world->is_root()) {
    EXPECT_NE(said.find("disk"), said.npos) << said;
  }
}

TEST_F(Run, AMissingFolderIsReportedOnEveryRank) {
  toy::analysis a({5, 4, 3});
  run_settings settings = toy::quiet_settings((folder_ / "none" / "result.h5").string());
  const std::string said = error_message([&] { run_toy(a, settings); }, exit_status::disk);
  EXPECT_NE(said.find("none"), said.npos) << said;
}

/// A step that is received, and how often each candidate was received with its score.
class ReceivedRun : public Run {
 protected:
  ~ReceivedRun() override { unsetenv("VOXHERD_UNSTORED_SECONDS"); }

  static void store_after(const char* seconds) { setenv("VOXHERD_UNSTORED_SECONDS", seconds, 1); }

  exit_status run_scores(run_settings settings, std::uint64_t stop_after = candidates) {
    settings.batch_items = 10;
    received_.assign(candidates, 0);
    std::uint64_t own = 0;
    toy::scores a(candidates, slowest_);
    const step_context step{.kind = step_kind::intermediate};
    return run_step(*world, a, settings, toy::host_hooks(), step, [&](const batch& items, auto outputs) {
      const auto* score = reinterpret_cast<const float*>(outputs[0].data());
      for (std::uint64_t i = 0; i < items.item_count; ++i)
        received_[items.first_item + i] += score[i] == toy::candidate_score(items.first_item + i) ? 1 : 1000;
      own += items.item_count;
      if (own > stop_after) raise(SIGTERM);
    });
  }

  /// Candidates that were received once by all ranks together.
  std::uint64_t received_once() {
    world->all_reduce(reduction::sum, std::span<std::uint64_t>(received_));
    return static_cast<std::uint64_t>(std::count(received_.begin(), received_.end(), 1u));
  }

  static constexpr std::uint64_t candidates = 600;
  std::chrono::microseconds slowest_{500};
  std::vector<std::uint64_t> received_;
};

TEST_F(ReceivedRun, OfAShortStepLeavesNoFile) {
  ASSERT_EQ(run_scores(toy::quiet_settings(out_)), exit_status::complete);
  EXPECT_EQ(received_once(), candidates);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ReceivedRun, StoresTheBatchesOfALongerStepForAResumedOne) {
  store_after("0");
  run_settings settings = toy::quiet_settings(out_);
  ASSERT_EQ(run_scores(settings), exit_status::complete);
  EXPECT_EQ(received_once(), candidates);
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_TRUE(fs::exists(out_ + ".part"));
  settings.resume = true;
  ASSERT_EQ(run_scores(settings), exit_status::complete);
  EXPECT_EQ(received_once(), candidates) << "read from the file";
}

/// The first batches are computed without a file, if a second is not enough for all of them.
TEST_F(ReceivedRun, ComputesAgainWhatWasNotStored) {
  store_after("0.001");
  slowest_ = std::chrono::milliseconds(40 * world->size());
  run_settings settings = toy::quiet_settings(out_);
  ASSERT_EQ(run_scores(settings), exit_status::complete);
  EXPECT_EQ(received_once(), candidates);
  slowest_ = {};
  settings.resume = true;
  ASSERT_EQ(run_scores(settings), exit_status::complete);
  EXPECT_EQ(received_once(), candidates);
}

TEST_F(ReceivedRun, IsResumedAfterASignalWithOrWithoutAFile) {
  for (const char* seconds : {"10", "0"}) {
    store_after(seconds);
    run_settings settings = toy::quiet_settings(out_);
    slowest_ = std::chrono::milliseconds(2);
    ASSERT_EQ(run_scores(settings, 20), exit_status::interrupted);
    world->barrier();
    EXPECT_EQ(fs::exists(out_ + ".part"), std::string(seconds) == "0");
    settings.resume = true;
    ASSERT_EQ(run_scores(settings), exit_status::complete);
    EXPECT_EQ(received_once(), candidates) << seconds;
  }
}

TEST_F(ReceivedRun, OfAFileThatIsKeptWritesAllOfIt) {
  run_settings settings = toy::quiet_settings(out_);
  toy::scores a(candidates, slowest_);
  std::uint64_t items = 0;
  const auto count = [&](const batch& b, auto) { items += b.item_count; };
  ASSERT_EQ(run_step(*world, a, settings, toy::host_hooks(), {}, count), exit_status::complete);
  EXPECT_EQ(world->all_reduce(reduction::sum, items), candidates);
  ASSERT_TRUE(fs::exists(out_));
  settings.resume = true;
  items = 0;
  ASSERT_EQ(run_step(*world, a, settings, toy::host_hooks(), {}, count), exit_status::complete);
  EXPECT_EQ(world->all_reduce(reduction::sum, items), candidates) << "read from the complete file";
}

}  // namespace
