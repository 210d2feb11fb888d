#pragma once

#include <cstdint>

namespace voxherd {

/// A warp, or an aligned power-of-two part of one, as a team: each thread is a lane with one measurement per slot.
/// All teams of a warp run in step: every call below is made by the whole warp.
template <class Number>
struct cuda_team {
  using number = Number;
  using real = Number;

  int lane;        ///< this thread within its team
  int team_width;  ///< 8, 16 or 32

  __device__ explicit cuda_team(int width) : lane(static_cast<int>(threadIdx.x) & (width - 1)), team_width(width) {}

  __device__ int width() const { return team_width; }

  __device__ Number sum(Number value) const {
    constexpr unsigned whole_warp = 0xffffffffu;
    if (team_width > 16) value += __shfl_xor_sync(whole_warp, value, 16);
    if (team_width > 8) value += __shfl_xor_sync(whole_warp, value, 8);
    value += __shfl_xor_sync(whole_warp, value, 4);
    value += __shfl_xor_sync(whole_warp, value, 2);
    value += __shfl_xor_sync(whole_warp, value, 1);
    return value;
  }

  __device__ void sync() const { __syncwarp(); }

  template <class Work>
  __device__ void share(int count, Work work) const {
    for (int i = lane; i < count; i += team_width) work(i);
  }

  template <class Work>
  __device__ void once(Work work) const {
    if (lane == 0) work();
  }
};

/// Slots in registers: the index must be known to the compiler (loops under VOXHERD_UNROLL).
template <class Real, int Slots>
struct register_array {
  Real value[Slots];
  __device__ Real& operator[](int slot) { return value[slot]; }
  __device__ const Real& operator[](int slot) const { return value[slot]; }
};

/// Slots in shared memory: slot s of a lane lies at s * width + lane.
template <class Real>
struct shared_array {
  Real* first;  ///< this lane's slot 0
  int width;
  __device__ Real& operator[](int slot) const { return first[slot * width]; }
};

}  // namespace voxherd
