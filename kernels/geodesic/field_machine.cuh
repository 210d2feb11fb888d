#pragma once

#include <type_traits>

#include "kernels/device/cuda_check.cuh"
#include "kernels/geodesic/field_backends.hpp"
#include "kernels/geodesic/prepare_pipeline.hpp"

/// What prepares and holds fields on a GPU.
namespace voxherd::geodesic {

inline constexpr unsigned prepare_block = 128;

template <class Callable>
__global__ void __launch_bounds__(prepare_block) each_kernel(Callable callable, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * prepare_block + threadIdx.x;
  if (i < count) callable(i);
}

static __global__ void __launch_bounds__(prepare_block)
    count_kernel(const prepare::tensor_state* state, std::uint32_t count, unsigned* repaired) {
  const std::uint32_t i = blockIdx.x * prepare_block + threadIdx.x;
  const int here = __syncthreads_count(i < count && prepare::was_repaired(state[i]));
  if (threadIdx.x == 0 && here > 0) atomicAdd(repaired, static_cast<unsigned>(here));
}

class cuda_machine {
 public:
  static constexpr int lines_at_a_time = 1;
  cuda_machine(cudaStream_t stream, unsigned* repaired) : stream_(stream), repaired_(repaired) {}

  template <class Callable>
  void each(std::uint32_t count, const Callable& callable) const {
    static_assert(std::is_trivially_copyable_v<Callable>);
    each_kernel<<<(count + prepare_block - 1) / prepare_block, prepare_block, 0, stream_>>>(callable, count);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
  }

  void count_repaired(const prepare::tensor_state* state, std::uint32_t count) const {
    count_kernel<<<(count + prepare_block - 1) / prepare_block, prepare_block, 0, stream_>>>(state, count, repaired_);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
  }

 private:
  cudaStream_t stream_;
  unsigned* repaired_;
};

/// Loads the kernels of a preparation and runs none: CUDA would load each at its first launch, in the time measured.
struct kernel_loader {
  static constexpr int lines_at_a_time = cuda_machine::lines_at_a_time;

  template <class Callable>
  void each(std::uint32_t, const Callable&) const {
    cudaFuncAttributes ignored{};
    VOXHERD_CUDA_CHECK(cudaFuncGetAttributes(&ignored, each_kernel<Callable>));
  }

  void count_repaired(const prepare::tensor_state*, std::uint32_t) const {
    cudaFuncAttributes ignored{};
    VOXHERD_CUDA_CHECK(cudaFuncGetAttributes(&ignored, count_kernel));
  }
};

class cuda_field final : public field {
 public:
  cuda_field(std::size_t voxels, std::size_t floats, const field_view& view)
      : values_(voxels * floats), facts_(voxels), view_(view) {
    view_.values = values_.data();
    view_.facts = facts_.data();
  }

  field_view view() const override { return view_; }
  float* values() { return values_.data(); }
  voxel_facts* facts() { return facts_.data(); }

 private:
  device_buffer<float> values_;
  device_buffer<voxel_facts> facts_;
  field_view view_;
};

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

template <class T>
device_buffer<T> copied(const T* from, std::size_t count, cudaStream_t stream) {
  device_buffer<T> to(count);
  if (count > 0)
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
  return to;
}

}  // namespace voxherd::geodesic
