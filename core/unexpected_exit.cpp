#include "core/unexpected_exit.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

namespace voxherd {

namespace {

std::atomic<const unexpected_exit*> newest_guard{nullptr};

[[noreturn]] void leave(int status) {
  while (true) syscall(SYS_exit_group, status);
}

}  // namespace

struct exit_hooks {
  /// Does nothing if this end of the process is expected.
  static void ended(unexpected_exit::calls by) {
    const unexpected_exit* const guard = newest_guard.exchange(nullptr);
    if (guard == nullptr) return;
    if (by == unexpected_exit::calls::exit_and_quick && guard->which_ == unexpected_exit::calls::exit) return;
    if (!guard->message_.empty()) {
      const std::string line = "voxherd: error: " + guard->message_ + "\n";
      (void)!write(guard->error_output_, line.data(), line.size());
    }
    leave(static_cast<int>(guard->status_));
  }
};

unexpected_exit::unexpected_exit(calls which, exit_status status, std::string message, int error_output)
    : which_(which), status_(status), message_(std::move(message)), error_output_(error_output), outer_(newest_guard) {
  static const int registered = std::atexit([] { exit_hooks::ended(calls::exit); });
  (void)registered;
  newest_guard = this;
}

unexpected_exit::~unexpected_exit() {
  const unexpected_exit* own = this;
  newest_guard.compare_exchange_strong(own, outer_);
}

void unexpected_exit::allow_all() { newest_guard = nullptr; }

void end_process(exit_status status) { leave(static_cast<int>(status)); }

}  // namespace voxherd

/// Replaces the C library's function of this name in all libraries of the process.
extern "C" void _exit(int status) {  // NOLINT(bugprone-reserved-identifier)
  voxherd::exit_hooks::ended(voxherd::unexpected_exit::calls::exit_and_quick);
  voxherd::leave(status);
}
