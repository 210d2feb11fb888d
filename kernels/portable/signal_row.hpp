#pragma once

#include <cstddef>

#include "kernels/portable/function.hpp"

namespace voxherd {

/// The floats of one voxel, `stride` apart, so that neighbouring GPU threads read neighbouring addresses.
struct signal_row {
  const float* first;
  std::size_t stride;
  VOXHERD_FUNCTION double operator[](std::size_t k) const { return static_cast<double>(first[k * stride]); }
};

}  // namespace voxherd
