#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/device/launch.cuh"

/// Runs a callable with one GPU thread for each of `count` indices.
namespace voxherd {

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
