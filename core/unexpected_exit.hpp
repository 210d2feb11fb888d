#pragma once

#include <string>

#include "core/failure.hpp"

namespace voxherd {

/// Some libraries end the process themselves: MPI's where it cannot start, OpenMP's where it gets no thread. Their
/// status 1 would mean something else here. While an object of this class lives, such an end prints a message and has
/// the given status. Made by the main thread; the newest object counts.
class unexpected_exit {
 public:
  enum class calls {
    exit,            ///< only std::exit()
    exit_and_quick,  ///< also _exit(), by which MPI's library leaves; this program must not call it meanwhile
  };

  /// `message`: "" for none. `error_output`: the file to print it to.
  unexpected_exit(calls which, exit_status status, std::string message, int error_output = 2);
  ~unexpected_exit();
  unexpected_exit(const unexpected_exit&) = delete;
  unexpected_exit& operator=(const unexpected_exit&) = delete;

  /// From now on every end of the process is wanted. For any thread.
  static void allow_all();

 private:
  friend struct exit_hooks;
  calls which_;
  exit_status status_;
  std::string message_;
  int error_output_;
  const unexpected_exit* outer_;
};

/// Ends the process at once with this status, as _exit() does.
[[noreturn]] void end_process(exit_status status);

}  // namespace voxherd
