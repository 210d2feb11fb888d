#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace voxherd {

// All threads of the program that OpenMP does not start are started here.

/// The limits within which the system starts threads, as "ulimit -u is 40, ulimit -v is unlimited, ...".
std::string thread_limits_text();

/// Throws failure (internal_error): which thread, why it was refused, the limits, and what to do.
[[noreturn]] void refuse_thread(const std::string& purpose, const std::error_code& why);

/// `purpose` continues "a thread that ...": "computes".
template <class Work>
std::jthread start_thread(const char* purpose, Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& e) {
    refuse_thread(purpose, e.code());
  }
}

/// std::async with the same message.
template <class Work>
auto start_task(const char* purpose, Work&& work) {
  try {
    return std::async(std::launch::async, std::forward<Work>(work));
  } catch (const std::system_error& e) {
    refuse_thread(purpose, e.code());
  }
}

/// At most `count` threads that do the same work as the caller, who can do all of it alone: fewer where the system
/// refuses more. Each returned future is to be waited for.
std::vector<std::future<void>> start_helpers(std::size_t count, const std::function<void()>& work);

/// Threads of a team of OpenMP, whose library ends the program if the system refuses a thread. No limit at first.
int max_team_threads();
void limit_team_threads(int threads);

/// Threads that a run starts at most if its teams have so many; and the largest team for which so many are enough, at
/// least 1.
int threads_of_run(int team);
int possible_team(int threads);

/// Threads of this process that compress files at the same time; usable_cores() at first, and if set to 0.
int max_compression_threads();
void set_compression_threads(int threads);

/// Of `wanted` threads, how many this process can have now in addition to those it has. Starts them to find out: the
/// limits (ulimit -u, ulimit -v, pids.max) count what others have, too.
int count_startable_threads(int wanted);

}  // namespace voxherd
