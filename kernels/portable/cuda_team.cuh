#pragma once

#include <cassert>
#include <cstdint>

namespace voxherd {

/// A warp, or an aligned part of one, as a team: each thread is a lane with one measurement per slot. All teams of a
/// warp run in step: each call below is made by the complete warp.
template <class Number, int Width>
struct cuda_team {
  static_assert(Width == 8 || Width == 16 || Width == 32);
  using number = Number;
  using real = Number;
  static constexpr int partial_sums = 3;  ///< a thread waits four cycles for its previous addition

  int lane = static_cast<int>(threadIdx.x) % Width;  ///< this thread within its team

  __device__ static constexpr int width() { return Width; }

  /// A slot of an array that is padded to complete slots.
  __device__ Number load(const Number* first, int slot) const { return first[slot * Width + lane]; }

  __device__ void store(Number* first, int slot, Number value) const { first[slot * Width + lane] = value; }

  __device__ Number sum(Number value) const { return tree_sum(value); }

  /// Sum over the lanes in double, for large sums with significant small differences.
  __device__ double precise_sum(Number value) const { return tree_sum(static_cast<double>(value)); }

  /// sum(value) times `scale`, for sums of non-negative values near 1/scale. A complete warp adds integers of 24 binary
  /// places in one instruction, floats in ten: error 1e-7. The value of a lane is limited to 8, the sum is at least
  /// 2^-20.
  __device__ Number scaled_sum(Number value, Number scale) const {
    if constexpr (Width < 32) return sum(value) * scale;
    constexpr float places = 16777216.0f;
    const unsigned scaled = __float2uint_rn(fminf(value * (scale * places), 8.0f * places - 8.0f));
    return fmaxf(static_cast<float>(__reduce_add_sync(full_warp, scaled)) * (1.0f / places), 9.5367432e-7f);
  }

  /// A decision that is the same in all lanes. The vote tells the compiler so: the branch needs no reconvergence.
  __device__ bool agreed(bool decision) const {
    if constexpr (Width == 32) return __any_sync(full_warp, decision);
    return decision;
  }

  __device__ void sync() const { __syncwarp(); }

  template <class Work>
  __device__ void share(int count, Work work) const {
    for (int i = lane; i < count; i += Width) work(i);
  }

  template <class Work>
  __device__ void once(Work work) const {
    if (lane == 0) work();
  }

 private:
  static constexpr unsigned full_warp = 0xffffffffu;

  template <class Value>
  __device__ Value tree_sum(Value value) const {
#pragma unroll
    for (int apart = Width / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(full_warp, value, apart);
    return value;
  }
};

/// Slots in registers: indices must be compile-time constants (loops under VOXHERD_UNROLL).
template <class Real, int Slots>
struct register_array {
  Real value[Slots];
  __device__ Real& operator[](int slot) {
    assert(slot >= 0 && slot < Slots);
    return value[slot];
  }
  __device__ const Real& operator[](int slot) const {
    assert(slot >= 0 && slot < Slots);
    return value[slot];
  }
};

/// Slots in shared memory: slot s of a lane is at s * Width + lane.
template <class Real, int Width>
struct shared_array {
  Real* first;  ///< this lane's slot 0
  __device__ Real& operator[](int slot) const { return first[slot * Width]; }
};

}  // namespace voxherd
