#include "src/analyses/common/openmp_team.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <iterator>

namespace voxherd {
namespace {

long count_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

void use_many_threads() {
#pragma omp parallel num_threads(16)
  { EXPECT_LT(omp_get_thread_num(), 16); }
}

TEST(OpenmpTeam, NoThreadsAreLeftAfterTheThreadThatHasOne) {
  const long before = count_threads();
  long left = 0;
  for (int turn = 0; turn < 30; ++turn) {  // without it about every second turn leaves some
    std::async(std::launch::async, [] {
      const openmp_team team;
      use_many_threads();
    }).get();
    left += count_threads() - before;
  }
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace voxherd
