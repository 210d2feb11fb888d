#pragma once

#include "kernels/device/each_cuda.cuh"
#include "kernels/tensor_field/field_backends.hpp"
#include "kernels/tensor_field/prepare_pipeline.hpp"

/// Prepares and stores fields on a GPU.
namespace voxherd::tensor_field {

static __global__ void __launch_bounds__(each_block)
    count_kernel(const prepare::tensor_state* state, std::uint32_t count, unsigned* repaired) {
  const std::uint32_t i = blockIdx.x * each_block + threadIdx.x;
  const int here = __syncthreads_count(i < count && prepare::was_repaired(state[i]));
  if (threadIdx.x == 0 && here > 0) atomicAdd(repaired, static_cast<unsigned>(here));
}

class cuda_machine {
 public:
  static constexpr int lines_at_a_time = 1;
  cuda_machine(cudaStream_t stream, unsigned* repaired) : stream_(stream), repaired_(repaired) {}

  template <class Callable>
  void each(std::uint32_t count, const Callable& callable) const {
    each_on_gpu(stream_, count, callable);
  }

  void count_repaired(const prepare::tensor_state* state, std::uint32_t count) const {
    launch_items(count_kernel, count, each_block, {each_block}, stream_, state, count, repaired_);
  }

 private:
  cudaStream_t stream_;
  unsigned* repaired_;
};

/// Loads the kernels of a preparation without running them: CUDA would otherwise load each at its first launch, within
/// the measured time.
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

}  // namespace voxherd::tensor_field
