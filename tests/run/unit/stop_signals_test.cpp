// Signals are noted only while somebody can act on them, and the printed advice is that of the run that was stopped.

#include "mpi/run/signals.hpp"

#include <gtest/gtest.h>

namespace voxherd {

namespace {

int count = 0;  // of signals that the handler of the test received

class StopSignals : public ::testing::Test {
 protected:
  void SetUp() override {
    count = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ++count; };
    sigaction(SIGTERM, &action, &before_);
  }
  void TearDown() override { sigaction(SIGTERM, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

TEST_F(StopSignals, ASignalIsNotedUntilTheOutermostEnds) {
  {
    const stop_signals of_command;
    {
      const stop_signals of_run;
      raise(SIGTERM);
    }
    EXPECT_EQ(stop_signals::received(), SIGTERM);
    const stop_signals of_next_run;
    EXPECT_EQ(stop_signals::received(), SIGTERM);
  }
  EXPECT_EQ(stop_signals::received(), 0);
  EXPECT_EQ(count, 0);
  raise(SIGTERM);
  EXPECT_EQ(count, 1);
}

TEST_F(StopSignals, ReleasedSignalsEndTheProcessAsInterrupted) {
  EXPECT_EXIT(
      {
        const stop_signals of_command;
        stop_signals::release();
        raise(SIGTERM);
      },
      ::testing::ExitedWithCode(75), "stopping on a signal");
}

TEST_F(StopSignals, TheReleaseEndsWithTheOutermost) {
  {
    const stop_signals of_command;
    stop_signals::release();
  }
  const stop_signals of_next_command;
  raise(SIGTERM);
  EXPECT_EQ(stop_signals::received(), SIGTERM);
}

TEST_F(StopSignals, OnlyTheCommandThatContinuesByItselfSaysSo) {
  run_listener listener;
  listener.resumes_by_itself = true;
  run_request inner, other;
  inner.listener = &listener;
  EXPECT_STREQ(how_to_continue(continuation(inner)), "the same command continues");
  EXPECT_STREQ(how_to_continue(continuation(other)), "the same command with --resume continues");
}

}  // namespace

}  // namespace voxherd
