#include "core/unexpected_exit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace voxherd {
namespace {

using calls = unexpected_exit::calls;

TEST(UnexpectedExit, OfALibraryHasAMessageAndOurStatus) {
  const auto by_exit = [] {
    const unexpected_exit guard(calls::exit, exit_status::internal_error, "no thread");
    std::exit(1);
  };
  EXPECT_EXIT(by_exit(), ::testing::ExitedWithCode(70), "voxherd: error: no thread");
  const auto by_quick_exit = [] {
    const unexpected_exit guard(calls::exit_and_quick, exit_status::interrupted, "no MPI");
    _exit(1);
  };
  EXPECT_EXIT(by_quick_exit(), ::testing::ExitedWithCode(75), "voxherd: error: no MPI");
}

TEST(UnexpectedExit, IsNoneAfterwardsNorWhereItIsAllowed) {
  const auto afterwards = [] {
    { const unexpected_exit guard(calls::exit_and_quick, exit_status::internal_error, "early"); }
    std::exit(3);
  };
  EXPECT_EXIT(afterwards(), ::testing::ExitedWithCode(3), "^$");
  const auto allowed = [] {
    const unexpected_exit guard(calls::exit_and_quick, exit_status::internal_error, "early");
    unexpected_exit::allow_all();
    _exit(4);
  };
  EXPECT_EXIT(allowed(), ::testing::ExitedWithCode(4), "^$");
  const auto only_exit = [] {
    const unexpected_exit guard(calls::exit, exit_status::internal_error, "early");
    _exit(5);
  };
  EXPECT_EXIT(only_exit(), ::testing::ExitedWithCode(5), "^$");
  const auto own = [] {
    const unexpected_exit guard(calls::exit_and_quick, exit_status::internal_error, "early");
    end_process(exit_status::disk);
  };
  EXPECT_EXIT(own(), ::testing::ExitedWithCode(74), "^$");
}

TEST(UnexpectedExit, OfTheInnerGuardCountsAndThenTheOuterOne) {
  const auto inner = [] {
    const unexpected_exit outer(calls::exit, exit_status::internal_error, "outer");
    const unexpected_exit guard(calls::exit, exit_status::interrupted, "inner");
    std::exit(1);
  };
  EXPECT_EXIT(inner(), ::testing::ExitedWithCode(75), "inner");
  const auto outer = [] {
    const unexpected_exit guard(calls::exit, exit_status::internal_error, "outer");
    { const unexpected_exit ended(calls::exit, exit_status::interrupted, "inner"); }
    std::exit(1);
  };
  EXPECT_EXIT(outer(), ::testing::ExitedWithCode(70), "outer");
}

}  // namespace
}  // namespace voxherd
