#pragma once

#include <string>

#include "core/device.hpp"

namespace voxherd {

/// What a function does that is only in builds with CUDA.
[[noreturn]] inline void refuse_cuda(const char* what) {
  throw device_error(std::string(what) +
                     ": this voxherd was built without CUDA; use --backend cpu, or build with nvcc");
}

}  // namespace voxherd
