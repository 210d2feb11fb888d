#pragma once

namespace voxherd::perfusion {

/// A thread block that works on one voxel. The same interface as thread_team; every call is made by all its threads.
/// `partial` is shared: a number for each warp.
template <int Threads>
struct cuda_voxel_team {
  static_assert(Threads % 32 == 0);
  static constexpr int warps = Threads / 32;

  double* partial;

  template <class Work>
  __device__ void share(int count, const Work& work) const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += Threads) work(i);
  }

  /// The same bits for all: a butterfly adds the same pairs in every lane, and all add the warps in one order.
  __device__ double sum(double value) const {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    if constexpr (warps == 1) return value;
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    sync();
    double total = partial[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) total += partial[w];
    sync();
    return total;
  }

  __device__ void sync() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
};

}  // namespace voxherd::perfusion
