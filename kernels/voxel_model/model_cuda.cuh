#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/device/voxelwise_cuda.cuh"
#include "kernels/portable/cuda_team.cuh"
#include "kernels/voxel_model/model_estimator.hpp"
#include "kernels/voxel_model/model_voxel.hpp"
#include "kernels/voxel_model/normal_equations_cuda.cuh"

namespace voxherd::voxel_model {

struct cuda_teams {
  using fit = cuda_team<double, 32>;
  using chain = cuda_team<float, 32>;
};

/// One warp per voxel.
template <class Model>
__global__ void __launch_bounds__(32)
    model_kernel(const model_run<Model> run, const std::uint64_t* voxels, const float* rows, float* samples,
                 const output_arrays<model_outputs<Model>> out) {
  __shared__ voxel_scratch<cuda_teams, Model> scratch;
  extern __shared__ double signals[];
  const std::size_t item = blockIdx.x;
  estimate_voxel<cuda_teams, Model>(
      run, voxels[item], rows + item * run.row_floats(),
      {signals, reinterpret_cast<float*>(signals + run.padded), samples + item * run.sample_floats()}, scratch, item,
      out);
}

template <class Model>
class cuda_model_estimator final : public estimator<model_outputs<Model>> {
 public:
  cuda_model_estimator(const Model& model, const gradient_table& gradients, bool deviates, const settings& s)
      : run_(make_model_run(model, gradients, deviates, s, 32, sent_)), results_(run_.bytes) {}

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows,
           const output_arrays<model_outputs<Model>>& out) override {
    if (count == 0) return;
    const std::size_t floats = count * static_cast<std::size_t>(run_.row_floats());
    output_arrays<model_outputs<Model>> results;
    rows_.reserve(floats);
    voxels_.reserve(count);
    samples_.reserve(count * static_cast<std::size_t>(run_.sample_floats()));
    results_.reserve(count, out.array, results.array);
    results.limit_to(count);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(rows_.data(), rows, floats * sizeof(float), cudaMemcpyHostToDevice, stream_));
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(voxels_.data(), voxels, count * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream_));
    const std::size_t shared = static_cast<std::size_t>(run_.padded) * (sizeof(double) + sizeof(float));
    launch_blocks(model_kernel<Model>, count, {32, shared}, stream_, run_, voxels_.data(), rows_.data(),
                  samples_.data(), results);
    results_.fetch(count, results.array, out.array, stream_);
    stream_.wait();
  }

  void release_memory() override {
    rows_ = {}, samples_ = {};
    voxels_ = {};
    results_.release();
  }

 private:
  sent_numbers sent_;
  model_run<Model> run_;
  device_buffer<float> rows_, samples_;
  device_buffer<std::uint64_t> voxels_;
  output_buffers<output_count<model_outputs<Model>>> results_;
  cuda_stream stream_;
};

}  // namespace voxherd::voxel_model
