#include "core/threads.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <atomic>
#include <climits>

#include "core/control_groups.hpp"
#include "core/failure.hpp"

namespace voxherd {

namespace {

std::string limit_text(const char* name, int resource) {
  rlimit own{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &own) != 0 || own.rlim_cur == RLIM_INFINITY)
    return fmt::format("{} is unlimited", name);
  return fmt::format("{} is {}", name, own.rlim_cur);
}

}  // namespace

std::string thread_limits_text() {
  const auto more = read_control_groups().more_processes;
  return fmt::format("{}, {}, {}", limit_text("ulimit -u", RLIMIT_NPROC), limit_text("ulimit -v", RLIMIT_AS),
                     more ? fmt::format("the control group (pids.max) allows {} more", *more)
                          : "no control group limits them (pids.max)");
}

void refuse_thread(const std::string& purpose, const std::error_code& why) {
  throw failure(exit_status::internal_error,
                fmt::format("cannot start a thread that {}: {}; {}: raise the limit, end other programs, or give a "
                            "smaller --threads",
                            purpose, why.message(), thread_limits_text()));
}

std::vector<std::future<void>> start_helpers(std::size_t count, const std::function<void()>& work) {
  std::vector<std::future<void>> helpers;
  try {
    while (helpers.size() < count) helpers.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error&) {
  }
  return helpers;
}

namespace {

std::atomic<int> team_limit{INT_MAX}, compression_threads{0};

// The main thread and one that computes have a team each, while as many threads decompress images. Others compute,
// write back, watch, and take checksums.
constexpr int teams_at_once = 3, other_threads = 8;

}  // namespace

int threads_of_run(int team) { return teams_at_once * (team - 1) + other_threads; }

int possible_team(int threads) { return threads <= other_threads ? 1 : (threads - other_threads) / teams_at_once + 1; }

int max_team_threads() { return team_limit; }

void limit_team_threads(int threads) { team_limit = threads; }

int max_compression_threads() {
  static const int cores = usable_cores();
  return compression_threads > 0 ? compression_threads.load() : cores;
}

void set_compression_threads(int threads) { compression_threads = threads; }

int count_startable_threads(int wanted) {
  std::atomic<bool> is_over{false};
  int started = 0;
  {
    std::vector<std::jthread> trial;
    try {
      for (; started < wanted; ++started) trial.emplace_back([&is_over] { is_over.wait(false); });
    } catch (const std::system_error&) {
    }
    is_over = true;
    is_over.notify_all();
  }
  return started;
}

}  // namespace voxherd
