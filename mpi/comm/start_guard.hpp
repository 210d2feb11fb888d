#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace voxherd {

/// Ends this process with exit_status::interrupted and a message if it lives too long: for the time in which MPI
/// starts. Open MPI waits for ever there if a rank or a node has died meanwhile. Waits 300 s, or what the environment
/// variable VOXHERD_START_SECONDS says (0: for ever).
class start_guard {
 public:
  start_guard();
  ~start_guard();
  start_guard(const start_guard&) = delete;
  start_guard& operator=(const start_guard&) = delete;

 private:
  void wait(double seconds, int rank);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  std::thread thread_;
};

}  // namespace voxherd
