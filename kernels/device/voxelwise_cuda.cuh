#pragma once

#include <type_traits>
#include <vector>

#include "kernels/device/input_columns.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/device/voxelwise.hpp"

namespace voxherd {

/// Copies on the GPU of the numbers that a callable points to.
class sent_numbers {
 public:
  template <class T>
  const T* operator()(const std::vector<T>& numbers) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t bytes = numbers.size() * sizeof(T);
    sent_.emplace_back(bytes);
    VOXHERD_CUDA_CHECK(cudaMemcpy(sent_.back().data(), numbers.data(), bytes, cudaMemcpyHostToDevice));
    return reinterpret_cast<const T*>(sent_.back().data());
  }

 private:
  std::vector<device_buffer<std::byte>> sent_;
};

/// Voxels side by side: thread i reads number i of each column.
template <class Callable, class Outputs>
__global__ void voxelwise_kernel(Callable callable, const float* columns, std::size_t count,
                                 output_arrays<Outputs> out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) callable(signal_row{columns + i, count}, i, out);
}

template <class Estimator>
class voxelwise_cuda_solver final : public voxelwise_solver<Estimator> {
 public:
  using outputs = typename voxelwise_solver<Estimator>::outputs;

  explicit voxelwise_cuda_solver(const Estimator& e)
      : callable_(e.callable(sent_)), input_(e.row_floats()), results_(output_widths<typename Estimator::outputs>()) {}

  void fit(std::size_t count, const float* values, input_layout layout, const outputs& out) override {
    static_assert(std::is_trivially_copyable_v<callable_type>);
    if (count == 0) return;
    constexpr unsigned block = 128;
    outputs results;
    results_.reserve(count, out.array, results.array);
    results.limit_to(count);
    const float* const columns = input_.send(values, count, layout, stream_);
    launch_items(voxelwise_kernel<callable_type, typename Estimator::outputs>, count, block, {block}, stream_,
                 callable_, columns, count, results);
    results_.fetch(count, results.array, out.array, stream_);
    stream_.wait();
  }

  void release_memory() override {
    input_.release();
    results_.release();
  }

 private:
  using callable_type = decltype(std::declval<const Estimator&>().callable(std::declval<sent_numbers&>()));

  sent_numbers sent_;
  callable_type callable_;
  input_columns input_;
  output_buffers<outputs::count> results_;
  cuda_stream stream_;
};

}  // namespace voxherd
