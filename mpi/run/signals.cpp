#include "mpi/run/signals.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstdio>

namespace voxherd {

namespace {

constexpr std::array<int, 3> signals{SIGTERM, SIGINT, SIGUSR1};
volatile std::sig_atomic_t note = 0;
int depth = 0;

void take_note(int signal) { note = signal; }

}  // namespace

stop_signals::stop_signals() {
  if (depth++ == 0) note = 0;
  struct sigaction action {};
  action.sa_handler = take_note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
}

stop_signals::~stop_signals() {
  --depth;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

int stop_signals::received() { return depth > 0 ? static_cast<int>(note) : 0; }

void say_stopping(int signal) {
  fmt::print(stderr, "voxherd: stopping on signal {}; the same command with --resume goes on from here\n", signal);
}

}  // namespace voxherd
