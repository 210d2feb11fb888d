// Outputs of variable length: written by many ranks, resumed and read again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/run/run.hpp"
#include "mpi/run/signals.hpp"
#include "tests/run/support/ragged_toy.hpp"
#include "tests/support/rank_folder.hpp"

namespace fs = std::filesystem;
using namespace voxherd;

namespace {

using toy::world;

std::vector<std::uint64_t> numbers(std::uint64_t count) {
  std::vector<std::uint64_t> ids(count);
  for (std::uint64_t i = 0; i < count; ++i) ids[i] = toy::mixed(i) % 100000;
  return ids;
}

class Points : public toy::rank_folder {
 protected:
  exit_status make(toy::ragged& a, std::uint64_t batch_items, bool resume = false) {
    run_settings settings = toy::quiet_settings(out_);
    settings.batch_items = batch_items;
    settings.resume = resume;
    settings.overwrite = !resume;
    return run(*world, a, settings, toy::host_hooks());
  }

  /// Every value of every item and point, on rank 0.
  void expect_correct(const toy::ragged& a) {
    world->barrier();
    if (!world->is_root()) return;
    const result_reader r(out_);
    ASSERT_TRUE(r.complete());
    ASSERT_EQ(r.item_voxels(), a.item_voxels());
    ASSERT_EQ(r.point_offsets(), a.point_offsets());
    const std::uint64_t items = a.ids().size(), points = r.point_count();
    ASSERT_EQ(points, a.point_offsets().back());
    const auto measure = r.read_items("measure", 0, items);
    const auto ends = r.read_rows<std::int32_t>("ends", 0, items);
    const auto steps = r.read_rows<std::uint32_t>("steps", 0, items);
    const auto verdict = r.read_items("verdict", 0, items);
    const auto position = r.read_points("position", 0, points), fa = r.read_points("FA", 0, points);
    const auto hit = r.read_rows<std::uint8_t>("hit", 0, points);
    const auto frame = r.read_rows<double>("frame", 0, points);
    std::uint64_t wrong = 0, point = 0;
    for (std::uint64_t i = 0; i < items; ++i) {
      const std::uint64_t id = a.ids()[i];
      wrong += measure[i] != toy::toy_value(id, 0);
      wrong += ends[2 * i] != static_cast<std::int32_t>(id % 5);
      wrong += ends[2 * i + 1] != -static_cast<std::int32_t>(id % 7);
      wrong += steps[i] != 4000000000u + id;
      wrong += verdict[i] != static_cast<float>(id % 6);
      for (std::uint64_t p = 0; p < toy::count_points(id); ++p, ++point) {
        for (std::uint64_t c = 0; c < 3; ++c) wrong += position[3 * point + c] != toy::toy_value(id, 100 + 3 * p + c);
        wrong += fa[point] != toy::toy_value(id, 400 + p);
        wrong += hit[point] != (id + p) % 200;
        for (std::uint64_t k = 0; k < 9; ++k) wrong += frame[9 * point + k] != toy::toy_value(id, 500 + 9 * p + k);
      }
    }
    EXPECT_EQ(wrong, 0u);
    for (const batch& b : r.batches()) EXPECT_EQ(r.compute_checksum(b), r.journal()[b.number].checksum) << b.number;
  }

  void leave_unfinished(const toy::ragged& a, std::uint64_t batch_items, int done) {
    class stopping : public toy::ragged, public item_input {
     public:
      stopping(const toy::ragged& like, int after) : toy::ragged(like), left_(after) {}
      item_input* input() override { return this; }
      std::size_t bytes_per_item() const override { return 0; }
      void load(const batch&, std::span<std::byte>) override {
        if (left_-- == 0) raise(SIGTERM);
      }

     private:
      int left_;
    } a_stopping(a, done);
    EXPECT_EQ(make(a_stopping, batch_items), exit_status::interrupted);
    world->barrier();
  }
};

TEST_F(Points, AreWrittenAtTheirPositionsForAnyBatchSizeAndLaneCount) {
  for (const std::uint64_t batch_items : {0, 1, 7, 100000}) {
    for (const int lanes : {1, 2}) {
      toy::ragged a(numbers(batch_items == 1 ? 40 : 400), std::chrono::microseconds(200), lanes);
      ASSERT_EQ(make(a, batch_items), exit_status::complete);
      expect_correct(a);
    }
  }
}

TEST_F(Points, MayBeMissingFromEveryItem) {
  std::vector<std::uint64_t> none;
  for (std::uint64_t id = 0; none.size() < 9; ++id) {
    if (toy::count_points(id) == 0) none.push_back(id);
  }
  toy::ragged a(none);
  ASSERT_EQ(make(a, 4), exit_status::complete);
  expect_correct(a);
}

TEST_F(Points, OfNoItemsGiveACompleteResultIfTheAnalysisAllowsIt) {
  toy::ragged a(numbers(0));
  ASSERT_EQ(make(a, 0), exit_status::complete);
  expect_correct(a);
  EXPECT_EQ(make(a, 0, true), exit_status::complete) << "already complete";
  class rejecting : public toy::ragged {
   public:
    using toy::ragged::ragged;
    bool may_be_empty() const override { return false; }
  } never(numbers(0));
  EXPECT_THROW(make(never, 0), failure);
}

TEST_F(Points, ADryRunWithoutItemsReportsThatAndLeavesNothing) {
  for (const std::uint64_t items : {0, 50}) {
    toy::ragged a(numbers(items));
    run_settings settings = toy::quiet_settings(out_);
    settings.dry_run = true;
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(*world, a, settings, toy::host_hooks()), exit_status::complete);
    const std::string said = testing::internal::GetCapturedStdout();
    world->barrier();
    EXPECT_TRUE(fs::is_empty(folder_));
    if (world->is_root()) {
      EXPECT_NE(said.find(std::to_string(items) + " voxels"), said.npos) << said;
    }
  }
}

TEST_F(Points, TheDiskSpaceOfADryRunIsTheSizeOfTheFile) {
  toy::ragged a(numbers(20000));
  run_settings settings = toy::quiet_settings(out_);
  settings.dry_run = true;
  testing::internal::CaptureStdout();
  ASSERT_EQ(run(*world, a, settings, toy::host_hooks()), exit_status::complete);
  const std::string said = testing::internal::GetCapturedStdout();
  ASSERT_EQ(make(a, 0), exit_status::complete);
  world->barrier();
  if (!world->is_root()) return;
  const auto at = said.find("disk");
  ASSERT_NE(at, said.npos);
  ASSERT_NE(said.find(" MB for", at), said.npos) << said;
  const double asked = 1e6 * std::stod(said.substr(at + 4)), takes = static_cast<double>(fs::file_size(out_));
  EXPECT_GT(asked, 1e7);
  EXPECT_NEAR(asked, takes, 1 << 20);
}

TEST_F(Points, OffsetsThatDoNotMatchTheItemsAreRejected) {
  class wrong : public toy::ragged {
   public:
    using toy::ragged::ragged;
    std::vector<std::uint64_t> point_offsets() const override { return {0, 5, 3}; }
  } a(numbers(2));
  EXPECT_THROW(make(a, 0), failure);
}

TEST_F(Points, AnUnfinishedFileIsResumedAndADamagedBatchRepeated) {
  toy::ragged a(numbers(400), std::chrono::microseconds(500));
  leave_unfinished(a, 9, 4);
  if (world->is_root()) {
    std::uint64_t at = 0;
    std::vector<float> row;
    {
      const result_reader r(out_ + ".part");
      while (at < r.journal().size() && r.journal()[at].done == 0) ++at;
      ASSERT_LT(at, r.journal().size());
      const row_range points = batch_rows(r.batches()[at], output_layout::points, r.point_offsets());
      ASSERT_GT(points.count, 3u);
      row = r.read_points("position", points.first, points.count);
    }
    std::fstream file(out_ + ".part", std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto found = bytes.find(std::string(reinterpret_cast<const char*>(row.data()), 4 * row.size()));
    ASSERT_NE(found, bytes.npos);
    file.seekp(static_cast<std::streamoff>(found) + 3);
    file.put('!');
  }
  world->barrier();
  ASSERT_EQ(make(a, 77, true), exit_status::complete);
  expect_correct(a);
  if (world->is_root()) {
    EXPECT_EQ(result_reader(out_).batches().front().item_count, 9u) << "the plan comes from the file";
  }
}

TEST_F(Points, FibresOfOtherLengthsAreADifferentStudy) {
  toy::ragged a(numbers(100));
  ASSERT_EQ(make(a, 0), exit_status::complete);
  class longer : public toy::ragged {
   public:
    using toy::ragged::ragged;
    std::vector<std::uint64_t> point_offsets() const override {
      auto offsets = toy::ragged::point_offsets();
      ++offsets.back();
      return offsets;
    }
  } b(numbers(100));
  try {
    make(b, 0, true);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::usage);
    EXPECT_NE(std::string(f.what()).find("numbers of points"), std::string::npos) << f.what();
  }
}

TEST_F(Points, ConstantsAreReadWithTheirGroup) {
  toy::ragged a(numbers(10));
  ASSERT_EQ(make(a, 0), exit_status::complete);
  world->barrier();
  const result_reader r(out_);
  ASSERT_EQ(r.constants().size(), 3u);
  EXPECT_EQ(r.constants()[0].group, "inputs");
  EXPECT_EQ(r.constants()[1].group, "connectome");
  EXPECT_EQ(r.constants()[1].values, (std::vector<double>{0, 7, 7, 0}));
  EXPECT_EQ(r.constants()[2].name, "best");
}

TEST_F(Points, AreReadInPiecesOfCompleteItems) {
  toy::ragged a(numbers(300));
  ASSERT_EQ(make(a, 0), exit_status::complete);
  world->barrier();
  const result_reader r(out_);
  std::vector<float> all;
  std::uint64_t next = 0;
  for (const batch& piece : cut_into_pieces(r.point_offsets(), 100)) {
    EXPECT_EQ(piece.first_item, next);
    next += piece.item_count;
    const row_range points = batch_rows(piece, output_layout::points, r.point_offsets());
    EXPECT_LE(points.count, 100u);
    const auto some = r.read_points("position", points.first, points.count);
    all.insert(all.end(), some.begin(), some.end());
  }
  EXPECT_EQ(next, 300u);
  EXPECT_EQ(all, r.read_points("position", 0, r.point_count()));
}

TEST_F(Points, RowsOutOfRangeAndTypesThatDifferFromTheOutputsAreRejected) {
  toy::ragged a(numbers(10));
  ASSERT_EQ(make(a, 0), exit_status::complete);
  world->barrier();
  const result_reader r(out_);
  EXPECT_THROW(r.read_points("position", r.point_count(), 1), failure);
  EXPECT_THROW(r.read_points("measure", 0, 1), failure);
  EXPECT_THROW(r.read_items("position", 0, 1), failure);
  EXPECT_THROW(r.read_rows<float>("steps", 0, 1), failure);
  EXPECT_TRUE(r.read_points("position", r.point_count(), 0).empty());
}

TEST_F(Points, ACommandOfSeveralStepsFindsACompleteResultBeforeItsFirstStep) {
  toy::ragged a(numbers(400), std::chrono::microseconds(500));
  const run_settings settings = toy::quiet_settings(out_);
  run_settings resuming = settings, other = settings;
  resuming.resume = other.resume = true;
  other.configuration["seed"] = 2;
  const auto whole = [&](const run_settings& how) {
    return is_already_complete(*world, "ragged", how, toy::host_hooks());
  };
  EXPECT_FALSE(whole(settings));
  leave_unfinished(a, 9, 2);
  EXPECT_FALSE(whole(resuming));
  EXPECT_THROW(whole(settings), failure);
  EXPECT_THROW(whole(other), failure);
  ASSERT_EQ(make(a, 0, true), exit_status::complete);
  world->barrier();
  EXPECT_TRUE(whole(resuming));
  EXPECT_THROW(whole(settings), failure);
  EXPECT_THROW(whole(other), failure);
}

TEST_F(Points, TimesOfEarlierStepsAreInTheSummary) {
  toy::ragged a(numbers(30));
  run_settings settings = toy::quiet_settings(out_);
  const step_context step{.also_in_summary = {{"steps", {{"ranking_seconds", 1.5}}}}};
  ASSERT_EQ(run_step(*world, a, settings, toy::host_hooks(), step), exit_status::complete);
  world->barrier();
  EXPECT_EQ(result_reader(out_).summary().at("steps").at("ranking_seconds"), 1.5);
}

TEST_F(Points, ASignalBetweenTwoStepsStopsTheNextOne) {
  toy::ragged a(numbers(100));
  {
    const stop_signals around_all_steps;
    raise(SIGTERM);
    EXPECT_EQ(make(a, 9), exit_status::interrupted);
  }
  EXPECT_EQ(make(a, 9, true), exit_status::complete) << "the note has been removed";
  expect_correct(a);
}

TEST_F(Points, FilesLeftByAStepRequireResumeOrOverwrite) {
  toy::ragged a(numbers(30));
  run_settings settings = toy::quiet_settings(out_);
  const step_context step{.kind = step_kind::intermediate};
  ASSERT_EQ(run_step(*world, a, settings, toy::host_hooks(), step), exit_status::complete);
  try {
    run_step(*world, a, settings, toy::host_hooks(), step);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const failure& f) {
    EXPECT_NE(std::string(f.what()).find("left by a stopped run; --resume"), std::string::npos) << f.what();
  }
}

TEST(Gathering, ConcatenatesInTheOrderOfRanks) {
  struct pair {
    std::uint64_t number;
    float value;
  };
  std::vector<pair> own(static_cast<std::size_t>(world->rank() % 3) * 2);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = {100u * static_cast<unsigned>(world->rank()) + i, 0.5f};
  const auto all = world->all_gather(own);
  const auto at_root = world->gather_to_root(own);
  std::vector<std::uint64_t> expected;
  for (unsigned r = 0; r < static_cast<unsigned>(world->size()); ++r) {
    for (unsigned i = 0; i < r % 3 * 2; ++i) expected.push_back(100u * r + i);
  }
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].number, expected[i]);
  ASSERT_EQ(at_root.size(), world->is_root() ? expected.size() : 0u);
  for (std::size_t i = 0; i < at_root.size(); ++i) EXPECT_EQ(at_root[i].number, expected[i]);
}

TEST(Gathering, SplitsLargeAmountsIntoPieces) {
  std::vector<char> own(static_cast<std::size_t>(17 * world->rank() + 5), static_cast<char>('a' + world->rank()));
  std::string expected;
  for (int r = 0; r < world->size(); ++r) {
    expected += std::string(static_cast<std::size_t>(17 * r + 5), static_cast<char>('a' + r));
  }
  const auto bytes = world->gather_counts(own.size());
  for (const auto to : {session::target::every_rank, session::target::root}) {
    std::string all(expected.size(), '?');
    const bool gets = to == session::target::every_rank || world->is_root();
    world->gather_bytes(own.data(), bytes, gets ? all.data() : nullptr, to, 4);
    if (gets) {
      EXPECT_EQ(all, expected);
    }
  }
}

TEST(Exchanging, GivesEachRankItsDataInTheOrderOfRanks) {
  const auto ranks = static_cast<unsigned>(world->size()), own = static_cast<unsigned>(world->rank());
  const auto sent = [](unsigned from, unsigned to) {
    return std::vector<std::uint64_t>((from + 2 * to) % 3, 1000u * from + to);
  };
  std::vector<std::vector<std::uint64_t>> parts;
  std::vector<std::uint64_t> expected;
  for (unsigned r = 0; r < ranks; ++r) {
    parts.push_back(sent(own, r));
    for (const std::uint64_t value : sent(r, own)) expected.push_back(value);
  }
  EXPECT_EQ(world->exchange(parts), expected);
}

TEST(Exchanging, SplitsLargeAmountsIntoPieces) {
  const auto ranks = static_cast<std::size_t>(world->size());
  const std::string own(static_cast<std::size_t>(11 * world->rank() + 6), static_cast<char>('a' + world->rank()));
  std::string expected;
  for (std::size_t r = 0; r < ranks; ++r) expected += std::string(11 * r + 6, static_cast<char>('a' + r));
  const std::vector<std::uint64_t> bytes(ranks, own.size());
  std::string all(expected.size(), '?');
  world->exchange_bytes(std::vector<const void*>(ranks, own.data()), bytes, all.data(), world->exchange_counts(bytes),
                        4);
  EXPECT_EQ(all, expected);
}

}  // namespace
