#pragma once

namespace voxherd {

/// While one exists, SIGTERM, SIGINT and SIGUSR1 are only noted; before and after they have their usual effect. Main
/// makes one for commands that compute a result, so that a signal between reading and computing, or between two steps,
/// is not lost; run() makes one for other callers.
class stop_signals {
 public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// The signal that was received while one of them exists, 0 for none.
  static int received();
  /// Gives signals their usual effect until the end: for work that has nothing to save.
  static void release();
};

const char* signal_name(int signal);

/// "the same command with --resume continues", or without --resume after set_resumes_by_itself().
const char* how_to_continue();
/// For commands that continue what they find, such as bedpostx.
void set_resumes_by_itself();

enum class stored_batches { none, all };
/// Prints on standard error that the run stops; for rank 0. `stored`: of the finished batches.
void print_stopping(int signal, stored_batches stored = stored_batches::all);

}  // namespace voxherd
