#pragma once

#include <cstddef>
#include <stdexcept>

#include "kernels/device/cuda_check.cuh"
#include "kernels/perfusion/cuda_fit.cuh"

/// Kernels with one voxel per thread whose rows of floats are read through shared memory.
namespace voxherd::perfusion {

/// Rows of floats, one per thread, copied to shared memory by the complete block.
struct shared_tile {
  float* floats;  ///< [row][stride]
  int stride;

  __device__ shared_tile(std::byte* shared, int row_floats)
      : floats(reinterpret_cast<float*>(shared)), stride(odd_stride(row_floats)) {}

  __device__ float* row() const { return floats + static_cast<int>(threadIdx.x) * stride; }

  template <class Copy>
  __device__ void each(int rows, int row_floats, const Copy& copy) const {
    for (int r = static_cast<int>(threadIdx.x / 32); r < rows; r += static_cast<int>(blockDim.x / 32))
      for (int c = static_cast<int>(threadIdx.x % 32); c < row_floats; c += 32) copy(r, c);
  }
  __device__ void load(const float* from, int rows, int row_floats) const {
    each(rows, row_floats, [&](int r, int c) { floats[r * stride + c] = from[std::size_t(r) * row_floats + c]; });
    __syncthreads();
  }
  __device__ void save(float* to, int rows, int row_floats) const {
    __syncthreads();
    each(rows, row_floats, [&](int r, int c) { to[std::size_t(r) * row_floats + c] = floats[r * stride + c]; });
  }
};

__device__ inline int rows_of_block(std::size_t count) {
  const std::size_t left = count - std::size_t{blockIdx.x} * blockDim.x;
  return left < blockDim.x ? static_cast<int>(left) : static_cast<int>(blockDim.x);
}

/// Largest shared memory of a block on the calling thread's GPU.
inline std::size_t shared_memory_bytes() {
  int ordinal = 0, bytes = 0;
  VOXHERD_CUDA_CHECK(cudaGetDevice(&ordinal));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  return static_cast<std::size_t>(bytes);
}

/// Threads of a block whose rows fit into shared memory together with `more` bytes.
inline unsigned tile_threads(int row_floats, std::size_t more) {
  const std::size_t room = shared_memory_bytes();
  for (unsigned threads : {128u, 64u, 32u})
    if (threads * static_cast<std::size_t>(odd_stride(row_floats)) * sizeof(float) + more <= room) return threads;
  throw std::invalid_argument("perfusion: series of more frames than a GPU's shared memory has room for");
}

/// Launches a kernel with one thread per voxel and a shared_tile after `more` bytes of shared memory.
template <class Kernel, class... Arguments>
void launch_tiles(Kernel kernel, std::size_t count, int row_floats, std::size_t more, cudaStream_t stream,
                  const Arguments&... arguments) {
  const unsigned threads = tile_threads(row_floats, more);
  const std::size_t bytes = more + threads * static_cast<std::size_t>(odd_stride(row_floats)) * sizeof(float);
  launch_items(kernel, count, threads, {threads, bytes}, stream, arguments...);
}

}  // namespace voxherd::perfusion
