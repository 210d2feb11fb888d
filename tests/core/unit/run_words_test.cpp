// Texts that a run prints: progress, times, sizes, differences.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mpi/result/same_study.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/summary.hpp"

using namespace voxherd;
using nlohmann::json;

TEST(ClockTime, ShowsHoursOnlyIfThereAreAny) {
  EXPECT_EQ(clock_time(0), "0:00");
  EXPECT_EQ(clock_time(754.4), "12:34");
  EXPECT_EQ(clock_time(3723), "1:02:03");
}

TEST(ProgressText, ShowsRateAndRemainingTime) {
  EXPECT_EQ(progress_text(250, 1000, "voxel", 10, false), " 25 %  250/1000 voxels  10/s  1:15 left");
}

TEST(ProgressText, CountsSlowItemsByTheHour) {
  EXPECT_EQ(progress_text(3, 12, "subject", 0.01, false), " 25 %  3/12 subjects  36.0/h  15:00 left");
}

TEST(ProgressText, ShowsNoRateBeforeOneIsKnown) {
  EXPECT_EQ(progress_text(0, 1000, "fibre", 0, false), "  0 %  0/1000 fibres");
}

TEST(ProgressText, FillsItsBar) {
  EXPECT_NE(progress_text(500, 1000, "voxel", 1, true).find("[###############               ]"), std::string::npos);
  EXPECT_NE(progress_text(1000, 1000, "voxel", 1, true).find("[##############################]"), std::string::npos);
}

TEST(Progress, StartsItsLinesWithTheNameOfTheStep) {
  testing::internal::CaptureStderr();
  {
    progress shown(progress_style::bar, 10, 0, "scores", "voxel");
    std::this_thread::sleep_for(std::chrono::milliseconds(210));
    shown.update(5);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("\rscores  50 %"), said.npos) << said;
}

TEST(ProgressStyle, IsSilentIfQuietAndOnOtherRanks) {
  EXPECT_EQ(choose_progress_style(true, true), progress_style::silent);
  EXPECT_EQ(choose_progress_style(false, false), progress_style::silent);
}

TEST(Counted, HasTheRightPlural) {
  EXPECT_EQ(counted(1, "voxel"), "1 voxel");
  EXPECT_EQ(counted(0, "voxel"), "0 voxels");
  EXPECT_EQ(counted(2, "fibre"), "2 fibres");
}

TEST(ReadableBytes, UsesUnitsOfOneThousand) {
  EXPECT_EQ(readable_bytes(999), "999 B");
  EXPECT_EQ(readable_bytes(1.5e9), "1.5 GB");
}

TEST(FirstDifference, NamesThePathToTheValue) {
  const json a{{"fibres", 2}, {"burn_in", {{"jumps", 1000}}}}, b{{"fibres", 2}, {"burn_in", {{"jumps", 500}}}};
  EXPECT_EQ(first_difference(a, b, ""), "burn_in.jumps: 1000 in the file, 500 now");
}

TEST(FirstDifference, NamesAValueThatIsOnlyOnOneSide) {
  EXPECT_EQ(first_difference(json{{"a", 1}}, json::object(), "options"), "options.a: 1 in the file, nothing now");
}

TEST(FirstDifference, TreatsANumberWrittenInTwoFormsAsEqual) {
  EXPECT_FALSE(first_difference(json{{"a", 3}}, json{{"a", 3.0}}, ""));
}

TEST(FirstDifference, SearchesLists) {
  EXPECT_EQ(first_difference(json{1, 2, 3}, json{1, 5, 3}, "shells"), "shells[1]: 2 in the file, 5 now");
}
