#pragma once

#include "kernels/ballstick/measurements.hpp"

namespace voxherd::ballstick {

/// One voxel's data for a cuda_team: signals in global memory, (x, y, z, offset) and weightings in shared memory.
/// `Slots` measurements per lane; 0: known only at run time.
template <int Width, int Slots>
struct cuda_measurements {
  int slot_count;
  const float* signals;        ///< this lane's first
  unsigned direction_address;  ///< this lane's first, in shared memory
  const float* weightings;     ///< this lane's first

  __device__ constexpr int slots() const {
    if constexpr (Slots > 0) return Slots;
    return slot_count;
  }
  __device__ float signal(int s) const { return __ldg(signals + s * Width); }
  /// Loaded each time: if the compiler could combine the loads, it would keep the directions of all slots in registers
  /// and spill others.
  __device__ weighted_direction<float> direction(int s) const {
    float4 d;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
                 : "r"(direction_address + s * Width * 16));
    return {d.x, d.y, d.z, d.w};
  }
  __device__ float weighting(int s) const { return weightings[s * Width]; }
};

}  // namespace voxherd::ballstick
