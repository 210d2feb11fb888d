#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace voxherd::view {

/// Work for the main thread, which alone reads results and uses the device.
class work_queue {
 public:
  void post(std::function<void()> work);
  void stop();
  void clear();  ///< forgets what has not been started
  /// Works until stop(), or until nothing has been posted for so long; then false.
  bool run(std::chrono::steady_clock::duration max_idle);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool stopped_ = false;
};

}  // namespace voxherd::view
