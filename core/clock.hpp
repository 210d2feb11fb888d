#pragma once

#include <chrono>

namespace voxherd {

/// Seconds on a clock that all ranks of a node share and that never jumps.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace voxherd
