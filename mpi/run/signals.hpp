#pragma once

#include <csignal>

#include <array>

#include "core/run_request.hpp"

namespace voxherd {

/// While one exists, SIGTERM, SIGINT and SIGUSR1 are only noted; before and after they have their usual effect. Main
/// makes one for commands that compute a result, so that a signal between reading and computing, or between two steps,
/// is not lost; run() makes one for other callers. The one made last ends first.
class stop_signals {
 public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// The signal that was received while one of them exists, 0 for none.
  static int received();
  /// From now on signals end the process at once, with the status of an interrupted run: for work that has nothing to
  /// save.
  static void release();

 private:
  std::array<struct sigaction, 3> before_{};
};

const char* signal_name(int signal);

/// What continues a stopped run.
enum class continued_by { resume_option, same_command };
continued_by continuation(const run_request& request);

/// "the same command with --resume continues", or without --resume.
const char* how_to_continue(continued_by what);

enum class stored_batches { none, all };
/// Prints on standard error that the run stops; for rank 0. `stored`: of the finished batches.
void print_stopping(int signal, continued_by what, stored_batches stored = stored_batches::all);

}  // namespace voxherd
