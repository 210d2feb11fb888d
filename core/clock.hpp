#pragma once

#include <chrono>
#include <utility>

namespace voxherd {

/// Seconds on a clock that all ranks of a node share and that never jumps.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class lap_timer {
 public:
  /// Seconds since the last call, or since it was made.
  double lap() {
    const double now = steady_seconds();
    return now - std::exchange(last_, now);
  }

 private:
  double last_ = steady_seconds();
};

}  // namespace voxherd
