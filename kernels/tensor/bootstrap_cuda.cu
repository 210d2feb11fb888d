#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/bootstrap_fitter.hpp"
#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

namespace {

/// Stores voxel `first` + i of the arrays on the device, where i is the voxel of a piece in columns.
struct keep_each {
  bootstrap_keeper keep;
  const float* columns;
  std::size_t piece, first;
  bootstrap_place to;
  float* tensor;
  std::uint8_t* status;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const std::size_t v = first + i;
    keep(signal_row{columns + i, piece}, {to.residual + v, to.parameter + v, to.stride}, tensor + 6 * v, status + v);
  }
};

struct refit_each {
  bootstrap_refitter<double> refit;
  bootstrap_place from;
  const std::uint64_t* voxels;
  std::uint64_t replicate;
  const std::uint8_t* data_status;
  float* tensor;
  std::uint8_t* status;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    constexpr auto fitted = static_cast<std::uint8_t>(voxel_status::fitted);
    double found[6] = {};
    bool good = false;
    if (data_status[i] == fitted)
      good = refit({from.residual + i, from.parameter + i, from.stride}, voxels + i, replicate, found);
    for (std::size_t c = 0; c < 6; ++c) tensor[6 * std::size_t{i} + c] = good ? static_cast<float>(found[c]) : 0.0f;
    status[i] = good || data_status[i] != fitted ? data_status[i] : static_cast<std::uint8_t>(voxel_status::diverged);
  }
};

class cuda_bootstrap final : public tensor_bootstrap {
 public:
  cuda_bootstrap(const gradient_table& g, const bootstrap_settings& s, std::span<const std::uint64_t> voxels,
                 std::span<const float> rows)
      : settings_(s), row_floats_(g.size() + (s.tensor.gradient_deviation ? 9 : 0)), count_(voxels.size()) {
    const tensor_design_table table(g);
    q_ = copied(table.q.data(), table.q.size(), stream_);
    design_ = {q_.data(), g.size(), table.largest_b_s_per_mm2};
    voxels_ = copied(voxels.data(), count_, stream_);
    residual_ = device_buffer<float>(count_ * row_floats_);
    parameter_ = device_buffer<double>(count_ * 7);
    data_tensor_ = device_buffer<float>(count_ * 6);
    data_status_ = device_buffer<std::uint8_t>(count_);
    tensor_ = device_buffer<float>(count_ * 6);
    status_ = device_buffer<std::uint8_t>(count_);
    keep(rows);
  }

  std::size_t voxels() const override { return count_; }

  void fit(std::uint64_t replicate, float* tensor, std::uint8_t* status) override {
    const float* found = data_tensor_.data();
    const std::uint8_t* how = data_status_.data();
    if (replicate > 0) {
      each_on_gpu(stream_, static_cast<std::uint32_t>(count_),
                  refit_each{bootstrap_refitter<double>(design_, settings_), place(), voxels_.data(), replicate,
                             data_status_.data(), tensor_.data(), status_.data()});
      found = tensor_.data(), how = status_.data();
    }
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(tensor, found, 6 * count_ * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(status, how, count_, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
  }

 private:
  bootstrap_place place() const { return {residual_.data(), parameter_.data(), count_}; }

  /// In pieces: the signals are on the device twice, in rows and in columns, and are freed when their fit is stored.
  void keep(std::span<const float> rows) {
    constexpr std::size_t most = 1 << 16;
    const std::size_t room = std::min(most, count_) * row_floats_;
    device_buffer<float> as_come(room), columns(room);
    for (std::size_t first = 0; first < count_; first += most) {
      const std::size_t piece = std::min(most, count_ - first);
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(as_come.data(), rows.data() + first * row_floats_,
                                         piece * row_floats_ * sizeof(float), cudaMemcpyHostToDevice, stream_));
      launch_transpose(as_come.data(), columns.data(), piece, row_floats_, stream_);
      VOXHERD_CUDA_CHECK(cudaGetLastError());
      each_on_gpu(stream_, static_cast<std::uint32_t>(piece),
                  keep_each{bootstrap_keeper(design_, settings_.tensor), columns.data(), piece, first, place(),
                            data_tensor_.data(), data_status_.data()});
    }
    stream_.wait();
  }

  bootstrap_settings settings_;
  tensor_design design_{};
  std::size_t row_floats_, count_;
  device_buffer<double> q_, parameter_;
  device_buffer<std::uint64_t> voxels_;
  device_buffer<float> residual_, data_tensor_, tensor_;
  device_buffer<std::uint8_t> data_status_, status_;
  cuda_stream stream_;
};

}  // namespace

std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cuda(const gradient_table& gradients,
                                                             const bootstrap_settings& settings,
                                                             std::span<const std::uint64_t> voxels,
                                                             std::span<const float> rows) {
  return std::make_unique<cuda_bootstrap>(gradients, settings, voxels, rows);
}

}  // namespace voxherd
