// Cases that pass, skip and fail, for the test of what ctest is told about them; --gtest_filter chooses.
#include <gtest/gtest.h>

#include "tests/support/rank_folder.hpp"

TEST(Outcome, Passes) { SUCCEED(); }

TEST(Outcome, Skips) { GTEST_SKIP() << "on purpose"; }

TEST(Outcome, SkipsOnTheFirstRank) {
  if (voxherd::toy::world->is_root()) GTEST_SKIP() << "on purpose";
}

TEST(Outcome, FailsOnTheLastRank) {
  EXPECT_NE(voxherd::toy::world->rank(), voxherd::toy::world->size() - 1) << "on purpose";
}

int main(int argc, char** argv) { return voxherd::toy::run_on_all_ranks(argc, argv); }
