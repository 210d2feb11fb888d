#include <algorithm>

#include "kernels/device/input_columns.cuh"
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

/// Writes each voxel's fit to its place in the image; counts the voxels without one.
struct place_each {
  double frame[9];
  const float* tensor;
  const std::uint8_t* status;
  const std::uint32_t* place;
  float* image;
  unsigned long long* kept;

  __device__ void operator()(std::uint32_t i) const {
    if (!place_tensor(frame, tensor + std::size_t{6} * i, status[i], image + std::size_t{6} * place[i]))
      atomicAdd(kept, 1ull);
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
    const fits found = fit_on_device(replicate);
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(tensor, found.tensor, 6 * count_ * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(status, found.status, count_, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
  }

  void set_image(const bootstrap_image& image) override {
    check_image(image, count_);
    image_ = copied(image.data.data(), image.data.size(), stream_);
    place_ = copied(image.place.data(), image.place.size(), stream_);
    frame_ = image.frame;
    stream_.wait();
  }

  std::uint64_t fit_image(std::uint64_t replicate, float* tensors) override {
    const fits found = fit_on_device(replicate);
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(tensors, image_.data(), image_.size() * sizeof(float), cudaMemcpyDeviceToDevice, stream_));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(kept_.data(), 0, sizeof(unsigned long long), stream_));
    place_each step{{}, found.tensor, found.status, place_.data(), tensors, kept_.data()};
    std::copy(frame_.begin(), frame_.end(), step.frame);
    each_on_gpu(stream_, static_cast<std::uint32_t>(count_), step);
    unsigned long long kept = 0;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&kept, kept_.data(), sizeof kept, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    return kept;
  }

 private:
  /// On the device, until the next call.
  struct fits {
    const float* tensor;
    const std::uint8_t* status;
  };

  fits fit_on_device(std::uint64_t replicate) {
    if (replicate == 0) return {data_tensor_.data(), data_status_.data()};
    each_on_gpu(stream_, static_cast<std::uint32_t>(count_),
                refit_each{bootstrap_refitter<double>(design_, settings_), place(), voxels_.data(), replicate,
                           data_status_.data(), tensor_.data(), status_.data()});
    return {tensor_.data(), status_.data()};
  }

  bootstrap_place place() const { return {residual_.data(), parameter_.data(), count_}; }

  /// In pieces: the signals are on the device twice, in rows and in columns, and are freed when their fit is stored.
  /// They come in rows, from which the host has removed voxels without a tensor.
  void keep(std::span<const float> rows) {
    constexpr std::size_t most = 1 << 16;
    input_columns signals(row_floats_);
    for (std::size_t first = 0; first < count_; first += most) {
      const std::size_t piece = std::min(most, count_ - first);
      const float* const columns = signals.send(rows.data() + first * row_floats_, piece, input_layout::rows, stream_);
      each_on_gpu(stream_, static_cast<std::uint32_t>(piece),
                  keep_each{bootstrap_keeper(design_, settings_.tensor), columns, piece, first, place(),
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
  device_buffer<float> image_;  // of set_image(), as the next two
  device_buffer<std::uint32_t> place_;
  std::array<double, 9> frame_{};
  device_buffer<unsigned long long> kept_{1};
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
