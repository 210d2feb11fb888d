#pragma once

#include <array>
#include <csignal>

namespace voxherd {

/// While it lives, SIGTERM, SIGINT and SIGUSR1 only leave a note; before and after they do what they did. run() makes
/// one; a command of several steps makes one around them, so that a signal between two steps stops the next one.
class stop_signals {
 public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// The signal that came while one of them lives, 0 for none.
  static int received();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// The line on standard error that says so; for rank 0.
void say_stopping(int signal);

}  // namespace voxherd
