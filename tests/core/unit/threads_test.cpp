#include "core/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "core/failure.hpp"

namespace voxherd {
namespace {

TEST(Threads, OfATeamAndTheOthersFitWhatIsPossible) {
  for (const int team : {1, 2, 7, 128}) EXPECT_EQ(possible_team(threads_of_run(team)), team);
  EXPECT_EQ(possible_team(threads_of_run(5) - 1), 4);
  EXPECT_EQ(possible_team(0), 1);
}

TEST(Threads, ThatCanBeStartedAreCounted) {
  EXPECT_EQ(count_startable_threads(20), 20);
  EXPECT_EQ(count_startable_threads(0), 0);
}

TEST(Threads, RefusedAreNamedWithTheLimits) {
  try {
    refuse_thread("computes", std::make_error_code(std::errc::resource_unavailable_try_again));
    FAIL();
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::internal_error);
    const std::string text = f.what();
    for (const char* const part : {"cannot start a thread that computes: Resource temporarily unavailable", "ulimit -u",
                                   "pids.max", "--threads"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Threads, HelpersDoTheSameWork) {
  std::atomic<int> done{0};
  auto helpers = start_helpers(3, [&] { ++done; });
  EXPECT_EQ(helpers.size(), 3u);
  for (auto& helper : helpers) helper.get();
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace voxherd
