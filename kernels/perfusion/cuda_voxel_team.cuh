#pragma once

namespace voxherd::perfusion {

/// Threads that work on one voxel: a thread block, or one of two halves of a warp, which then is the block. The same
/// interface as thread_team; all threads of the block make every call. `partial` is shared: one number per
/// warp.
template <int Width>
struct cuda_voxel_team {
  static_assert(Width == 16 || Width % 32 == 0);
  static constexpr int block_threads = Width < 32 ? 32 : Width, teams = block_threads / Width;
  static constexpr int warps = block_threads / 32;

  double* partial;

  /// Index of this thread in its team, and of its team in the block.
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % Width; }
  __device__ static int number() { return static_cast<int>(threadIdx.x) / Width; }

  template <class Work>
  __device__ void share(int count, const Work& work) const {
    for (int i = lane(); i < count; i += Width) work(i);
  }

  /// The same bits for all: a butterfly adds the same pairs in every lane, and all add the warps in one order.
  __device__ double sum(double value) const {
#pragma unroll
    for (int apart = Width < 32 ? Width / 2 : 16; apart > 0; apart /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, apart);
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
