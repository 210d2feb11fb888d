#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd::toy {

/// The ranks that a test program runs on; set by its main.
inline const session* world = nullptr;

/// Exit status of a test program on all ranks: 1 if a case failed anywhere, otherwise 77 (ctest shows it as skipped) if
/// no case ran, 0 if one passed.
inline int exit_status_on_all_ranks(const session& s, bool failed) {
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  struct rank_outcome {
    bool failed = false, only_skipped = false;
  } own;
  own.failed = failed || tests.test_to_run_count() == 0;
  own.only_skipped = tests.skipped_test_count() > 0 && tests.successful_test_count() == 0;
  for (const rank_outcome& other : s.all_gather(std::vector{own})) {
    own.failed = own.failed || other.failed;
    own.only_skipped = own.only_skipped && other.only_skipped;
  }
  if (own.failed) return 1;
  return own.only_skipped ? 77 : 0;
}

/// The body of such a program's main.
inline int run_on_all_ranks(int argc, char** argv) {
  const session s(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  world = &s;
  spdlog::set_level(spdlog::level::err);
  const bool failed = RUN_ALL_TESTS() != 0;
  return exit_status_on_all_ranks(s, failed);
}

/// A test with a folder on rank 0's disk, with the same name on every rank.
class rank_folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name;
    if (world->is_root()) {
      name = (std::filesystem::temp_directory_path() / ("voxherd_test_" + std::to_string(getpid()))).string();
      std::filesystem::create_directories(name);
    }
    world->broadcast(name);
    folder_ = name;
    out_ = (folder_ / "result.h5").string();
  }
  void TearDown() override {
    world->barrier();
    if (world->is_root()) std::filesystem::remove_all(folder_);
    world->barrier();
  }

  std::filesystem::path folder_;
  std::string out_;  ///< a result in it
};

}  // namespace voxherd::toy
