#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/voxel_model/estimator.hpp"
#include "kernels/voxel_model/voxel_preparer.hpp"
#include "kernels/voxel_model/voxel_sizes.hpp"

namespace voxherd::voxel_model {

/// A batch's arrays in device memory, one row per voxel.
template <class Outputs>
struct voxel_batch {
  int count;
  const float* rows;            ///< as received; a deviation follows the signals
  const std::uint64_t* voxels;  ///< each item's index in the image
  float* signals;               ///< prepared, padded
  std::uint8_t* status;         ///< voxels with another one than 0 are not fitted
  float *starts, *acceptance;   ///< voxel_sizes::parameters
  float* samples;
  output_arrays<Outputs> out;
};

template <class Outputs>
struct prepare_each {
  voxel_sizes sizes;
  voxel_batch<Outputs> batch;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    const std::size_t i = n;
    const voxel_preparer prepare{sizes.measurements, sizes.padded, sizes.noise};
    batch.status[i] =
        static_cast<std::uint8_t>(prepare(batch.rows + i * static_cast<std::size_t>(sizes.row_floats()),
                                          batch.signals + i * static_cast<std::size_t>(sizes.padded), sizes.order));
  }
};

template <class Outputs, class Summary>
struct finish_each {
  voxel_sizes sizes;
  voxel_batch<Outputs> batch;
  output_sizes<Outputs> bytes;
  Summary summarise;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    const std::size_t i = n;
    put_status(batch.status[i], i, batch.out);
    if (batch.status[i] != 0) return clear<Outputs>(bytes, i, batch.out);
    if (sizes.sample_floats == 0) return;
    summarise(batch.samples + i * static_cast<std::size_t>(sizes.sample_floats),
              batch.acceptance + i * static_cast<std::size_t>(sizes.parameters), i, batch.out);
  }
};

/// The estimator of all models on a GPU, in the stages of the one on the CPU (cpu_estimator.hpp). `Stages` has
///   outputs, sizes(), bytes()
///   queue(batch, stream)      the fits, with their outputs, and the chains
///   summary()                 a trivially copyable callable, (samples, acceptance, item, out)
template <class Stages>
class cuda_estimator final : public estimator<typename Stages::outputs> {
  using outputs = typename Stages::outputs;

 public:
  template <class... Arguments>
  explicit cuda_estimator(const Arguments&... arguments) : stages_(arguments...), results_(stages_.bytes()) {}

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows,
           const output_arrays<outputs>& out) override {
    if (count == 0) return;
    const voxel_sizes& sizes = stages_.sizes();
    const voxel_batch<outputs> batch = make_batch(count, out);
    const auto row_floats = static_cast<std::size_t>(sizes.row_floats());
    upload(rows_, rows, count * row_floats);
    upload(voxels_, voxels, count);
    const auto n = static_cast<std::uint32_t>(count);
    each_on_gpu(stream_, n, prepare_each<outputs>{sizes, batch});
    stages_.queue(batch, stream_);
    const auto summary = stages_.summary();
    each_on_gpu(stream_, n,
                finish_each<outputs, std::decay_t<decltype(summary)>>{sizes, batch, stages_.bytes(), summary});
    results_.fetch(count, batch.out.array, out.array, stream_);
    stream_.wait();
  }

  void release_memory() override {
    rows_ = {}, signals_ = {}, starts_ = {}, acceptance_ = {}, samples_ = {};
    voxels_ = {};
    status_ = {};
    results_.release();
  }

 private:
  voxel_batch<outputs> make_batch(std::size_t count, const output_arrays<outputs>& out) {
    const voxel_sizes& sizes = stages_.sizes();
    const auto parameters = static_cast<std::size_t>(sizes.parameters);
    rows_.reserve(count * static_cast<std::size_t>(sizes.row_floats()));
    signals_.reserve(count * static_cast<std::size_t>(sizes.padded));
    voxels_.reserve(count);
    status_.reserve(count);
    starts_.reserve(count * parameters);
    acceptance_.reserve(count * parameters);
    samples_.reserve(count * static_cast<std::size_t>(sizes.sample_floats));
    voxel_batch<outputs> batch{};
    results_.reserve(count, out.array, batch.out.array);
    batch.out.limit_to(count);
    batch.count = static_cast<int>(count);
    batch.rows = rows_.data();
    batch.voxels = voxels_.data();
    batch.signals = signals_.data();
    batch.status = status_.data();
    batch.starts = starts_.data();
    batch.acceptance = acceptance_.data();
    batch.samples = samples_.data();
    return batch;
  }

  template <class T>
  void upload(device_buffer<T>& to, const T* from, std::size_t count) {
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }

  Stages stages_;
  device_buffer<float> rows_, signals_, starts_, acceptance_, samples_;
  device_buffer<std::uint64_t> voxels_;
  device_buffer<std::uint8_t> status_;
  output_buffers<output_arrays<outputs>::count> results_;
  cuda_stream stream_;
};

}  // namespace voxherd::voxel_model
