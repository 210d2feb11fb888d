#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/cuda_check.cuh"

/// Starts kernels: the limit of shared memory, the number of blocks and the check of the launch.
namespace voxherd {

struct block_shape {
  unsigned threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
};

template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  if (bytes > 0)
    VOXHERD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), std::size_t blocks, const block_shape& shape, cudaStream_t stream,
                   const Arguments&... arguments) {
  if (blocks == 0) return;
  allow_shared_memory(kernel, shape.shared_bytes);
  kernel<<<static_cast<unsigned>(blocks), shape.threads, shape.shared_bytes, stream>>>(arguments...);
  VOXHERD_CUDA_CHECK(cudaGetLastError());
}

/// Enough blocks for `items`, of which each block has `items_per_block`: one per thread, or one per team of threads.
template <class... Parameters, class... Arguments>
void launch_items(void (*kernel)(Parameters...), std::size_t items, std::size_t items_per_block,
                  const block_shape& shape, cudaStream_t stream, const Arguments&... arguments) {
  launch_blocks(kernel, (items + items_per_block - 1) / items_per_block, shape, stream, arguments...);
}

inline int processors_of_device() {
  int ordinal = 0, processors = 1;
  VOXHERD_CUDA_CHECK(cudaGetDevice(&ordinal));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, ordinal));
  return processors;
}

/// Blocks with this much shared memory each for which a processor of the current device has room.
inline std::size_t blocks_with_room(std::size_t shared_bytes) {
  int ordinal = 0, all = 0, reserved = 0;
  VOXHERD_CUDA_CHECK(cudaGetDevice(&ordinal));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal));
  VOXHERD_CUDA_CHECK(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, ordinal));
  return static_cast<std::size_t>(all) / (shared_bytes + static_cast<std::size_t>(reserved));
}

/// Blocks that the current device runs at the same time, for kernels whose blocks take items until none is left.
template <class... Parameters>
std::size_t resident_blocks(void (*kernel)(Parameters...), const block_shape& shape) {
  int resident = 1;
  allow_shared_memory(kernel, shape.shared_bytes);
  VOXHERD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(shape.threads),
                                                                   shape.shared_bytes));
  return static_cast<std::size_t>(std::max(1, resident)) * static_cast<std::size_t>(processors_of_device());
}

// Runs a callable with one GPU thread for each of `count` indices.

inline constexpr unsigned each_block = 128;

template <class Callable>
__global__ void __launch_bounds__(each_block) each_kernel(Callable callable, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * each_block + threadIdx.x;
  if (i < count) callable(i);
}

/// Calls callable(i) for i in [0, count), in any order.
template <class Callable>
void each_on_gpu(cudaStream_t stream, std::uint32_t count, const Callable& callable) {
  static_assert(std::is_trivially_copyable_v<Callable>);
  launch_items(each_kernel<Callable>, count, each_block, {each_block}, stream, callable, count);
}

class cuda_event {
 public:
  cuda_event() { VOXHERD_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~cuda_event() { cudaEventDestroy(event_); }
  cuda_event(const cuda_event&) = delete;
  cuda_event& operator=(const cuda_event&) = delete;
  void record(cudaStream_t stream) { VOXHERD_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  double seconds_since(const cuda_event& before) const {
    float milliseconds = 0;
    VOXHERD_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, before.event_, event_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Copies to the GPU; the host array must exist until the stream has been synchronised.
template <class T>
device_buffer<T> copied(const T* from, std::size_t count, cudaStream_t stream) {
  device_buffer<T> to(count);
  if (count > 0)
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
  return to;
}

}  // namespace voxherd
