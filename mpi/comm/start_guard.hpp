#pragma once

#include <stop_token>
#include <thread>

namespace voxherd {

/// Ends this process with exit_status::interrupted and a message if it lives too long: for the time in which MPI
/// starts. Open MPI waits for ever there if a rank or a node has died meanwhile. Waits 300 s, or what the environment
/// variable VOXHERD_START_SECONDS says (0: for ever).
class start_guard {
 public:
  start_guard();

 private:
  static void wait(const std::stop_token& started, double seconds, int rank);

  std::jthread thread_;  ///< its destructor ends it
};

}  // namespace voxherd
