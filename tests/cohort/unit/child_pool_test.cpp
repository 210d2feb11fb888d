#include "src/batch/cohort/child_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/io/temporary_folder.hpp"

namespace voxherd {

namespace {

/// A pool with one job, whose child is this program: it lists its tests and ends with status 0.
exit_status run_one(const std::string& out, bool is_computed) {
  pool_settings settings;
  settings.places = make_cpu_places(1, 1);
  const std::vector<pool_job> jobs{{"one", out, [] { return job_state{}; },
                                    [](int) { return std::vector<std::string>{"--gtest_list_tests"}; },
                                    [] { return 0.0; }, [=] { return is_computed; }}};
  return run_pool(jobs, settings);
}

}  // namespace

TEST(ChildPool, AChildThatEndsWithStatusZeroAndComputesNothingHasFailed) {
  const temporary_folder folder("child_pool");
  EXPECT_EQ(run_one(folder.file("one.h5"), true), exit_status::complete);
  EXPECT_EQ(run_one(folder.file("other.h5"), false), exit_status::internal_error);
}

}  // namespace voxherd
