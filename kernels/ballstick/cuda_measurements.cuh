#pragma once

#include "kernels/ballstick/measurements.hpp"

namespace voxherd::ballstick {

/// One voxel's data for a cuda_team: signals in global memory, (x, y, z, offset) and weightings in shared memory.
/// `Slots` measurements a lane; 0: known only at run time.
template <int Slots>
struct cuda_measurements {
  int slot_count;
  int width;
  const float* signals;      ///< this lane's first
  const float4* directions;  ///< this lane's first
  const float* weightings;   ///< this lane's first

  __device__ constexpr int slots() const {
    if constexpr (Slots > 0) return Slots;
    return slot_count;
  }
  __device__ float signal(int s) const { return __ldg(signals + s * width); }
  __device__ weighted_direction<float> direction(int s) const {
    const float4 d = directions[s * width];
    return {d.x, d.y, d.z, d.w};
  }
  __device__ float weighting(int s) const { return weightings[s * width]; }
};

}  // namespace voxherd::ballstick
