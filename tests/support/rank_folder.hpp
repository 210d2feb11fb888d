#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "mpi/comm/session.hpp"

namespace voxherd::toy {

/// The ranks that a test program runs on; set by its main.
inline const session* world = nullptr;

/// The body of such a program's main: its status is that of all ranks.
inline int run_on_all_ranks(int argc, char** argv) {
  const session s(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  world = &s;
  spdlog::set_level(spdlog::level::err);
  return s.all_reduce(reduction::max, RUN_ALL_TESTS());
}

/// A test with a folder of its own on rank 0's disk, the same name on every rank.
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
