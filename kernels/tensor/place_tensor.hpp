#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd {

/// Writes a fitted tensor along world axes, F D F^T. False, and nothing is written, if there is none or its trace is
/// not positive.
VOXHERD_FUNCTION inline bool place_tensor(const double (&frame)[9], const float* tensor, std::uint8_t status,
                                          float* to) {
  const auto outcome = static_cast<voxel_status>(status);
  if (outcome != voxel_status::fitted && outcome != voxel_status::not_physical) return false;
  if (!(tensor[0] + tensor[3] + tensor[5] > 0)) return false;
  const double d[3][3] = {
      {tensor[0], tensor[1], tensor[2]}, {tensor[1], tensor[3], tensor[4]}, {tensor[2], tensor[4], tensor[5]}};
  int n = 0;
  for (int i = 0; i < 3; ++i) {
    double row[3];
    for (int j = 0; j < 3; ++j)
      row[j] = frame[3 * i] * d[0][j] + frame[3 * i + 1] * d[1][j] + frame[3 * i + 2] * d[2][j];
    for (int j = i; j < 3; ++j, ++n)
      to[n] = static_cast<float>(row[0] * frame[3 * j] + row[1] * frame[3 * j + 1] + row[2] * frame[3 * j + 2]);
  }
  return true;
}

}  // namespace voxherd
