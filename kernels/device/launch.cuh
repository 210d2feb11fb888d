#pragma once

#include <algorithm>

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

/// Blocks that the current device runs at the same time, for kernels whose blocks take items until none is left.
template <class... Parameters>
std::size_t resident_blocks(void (*kernel)(Parameters...), const block_shape& shape) {
  int resident = 1;
  allow_shared_memory(kernel, shape.shared_bytes);
  VOXHERD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(shape.threads),
                                                                   shape.shared_bytes));
  return static_cast<std::size_t>(std::max(1, resident)) * static_cast<std::size_t>(processors_of_device());
}

}  // namespace voxherd
