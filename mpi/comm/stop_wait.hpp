#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace voxherd {

/// For a std::jthread that watches something: waits, and returns true as soon as the thread is to end.
inline bool stopped_within(const std::stop_token& stop, double seconds) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return stop.stop_requested();
}

}  // namespace voxherd
