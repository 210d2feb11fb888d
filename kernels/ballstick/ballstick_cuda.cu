#include <algorithm>
#include <array>

#include "kernels/ballstick/cuda_chain.cuh"
#include "kernels/ballstick/cuda_fit.cuh"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/prepare.hpp"
#include "kernels/ballstick/summary.hpp"

namespace voxherd::ballstick {

namespace {

constexpr unsigned voxel_block = 128;

unsigned voxel_blocks(std::size_t count) { return static_cast<unsigned>((count + voxel_block - 1) / voxel_block); }

__global__ void prepare_kernel(voxel_preparer prepare, const float* rows, std::size_t row_floats, std::size_t count,
                               float* padded, std::uint8_t* status) {
  const std::size_t i = std::size_t{blockIdx.x} * voxel_block + threadIdx.x;
  if (i >= count) return;
  status[i] =
      static_cast<std::uint8_t>(prepare(rows + i * row_floats, padded + i * static_cast<std::size_t>(prepare.padded)));
}

__global__ void summary_kernel(chain_summary summarise, const float* samples, const float* accepted,
                               const std::uint8_t* status, std::size_t count, result_view out) {
  const std::size_t i = std::size_t{blockIdx.x} * voxel_block + threadIdx.x;
  if (i >= count) return;
  if (status[i] != 0) return summarise.clear(i, out);
  const auto sample_floats =
      static_cast<std::size_t>(summarise.layout.count) * static_cast<std::size_t>(summarise.sample_count);
  summarise(samples + i * sample_floats, accepted + i * max_parameters, i, out);
}

class cuda_estimator final : public estimator {
 public:
  cuda_estimator(const gradient_table& gradients, const settings& s, bool gradient_deviation)
      : settings_(s),
        layout_(layout_of(s)),
        measurements_(gradients.size()),
        deviates_(gradient_deviation),
        shape_(shape_for(static_cast<int>(gradients.size()))) {
    const weighting_table table = make_weighting_table(gradients, static_cast<std::size_t>(shape_.padded()));
    chain_ = chain_settings_of(s, gradients.size(), table.max_weighting);
    std::vector<float4> directions;
    for (std::size_t i = 0; i < table.x.size(); ++i)
      directions.push_back({table.x[i], table.y[i], table.z[i], table.offset[i]});
    directions_ = device_buffer<float4>(directions.size());
    weightings_ = device_buffer<float>(directions.size());
    VOXHERD_CUDA_CHECK(
        cudaMemcpy(directions_.data(), directions.data(), directions.size() * sizeof(float4), cudaMemcpyHostToDevice));
    VOXHERD_CUDA_CHECK(cudaMemcpy(weightings_.data(), table.weighting.data(), directions.size() * sizeof(float),
                                  cudaMemcpyHostToDevice));
  }

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_view& out) override {
    for (std::size_t done = 0; done < count;) {
      const std::size_t piece = std::min(count - done, piece_limit_);
      try {
        reserve(piece, out);
      } catch (const device_out_of_memory&) {
        if (piece == 1) throw;
        release();
        piece_limit_ = piece / 2;
        continue;
      }
      run_piece(piece, voxels + done, rows + done * row_floats(), out, done);
      done += piece;
    }
  }

 private:
  std::size_t row_floats() const { return measurements_ + (deviates_ ? 9 : 0); }
  chain_summary summary() const { return {layout_, settings_.fibres, settings_.samples()}; }
  std::size_t sample_floats() const {
    return static_cast<std::size_t>(layout_.count) * static_cast<std::size_t>(settings_.samples());
  }

  void reserve(std::size_t count, const result_view& out) {
    rows_.reserve(count * row_floats());
    signals_.reserve(count * static_cast<std::size_t>(shape_.padded()));
    voxels_.reserve(count);
    status_.reserve(count);
    starts_.reserve(count * max_parameters);
    acceptance_.reserve(count * max_parameters);
    samples_.reserve(count * sample_floats());
    for (int id = 0; id < field_count; ++id) {
      if (out.values[id] != nullptr) fields_[static_cast<std::size_t>(id)].reserve(count * summary().width_of(id));
    }
  }

  void release() {
    rows_ = {}, signals_ = {}, starts_ = {}, acceptance_ = {}, samples_ = {}, fields_ = {};
    voxels_ = {};
    status_ = {};
  }

  void run_piece(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_view& out,
                 std::size_t first) {
    upload(rows_, rows, count * row_floats());
    upload(voxels_, voxels, count);
    prepare_kernel<<<voxel_blocks(count), voxel_block, 0, stream_>>>(
        {static_cast<int>(measurements_), shape_.padded(), settings_.noise}, rows_.data(), row_floats(), count,
        signals_.data(), status_.data());
    VOXHERD_CUDA_CHECK(cudaGetLastError());
    run_fits(count);
    run_chains(count);
    result_view there;
    there.status = status_.data();
    for (int id = 0; id < field_count; ++id) {
      if (out.values[id] != nullptr) there.values[id] = fields_[static_cast<std::size_t>(id)].data();
    }
    summary_kernel<<<voxel_blocks(count), voxel_block, 0, stream_>>>(summary(), samples_.data(), acceptance_.data(),
                                                                     status_.data(), count, there);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
    fetch(count, there, out, first);
  }

  void run_fits(std::size_t count) {
    fit_job job{};
    job.count = static_cast<int>(count);
    job.measurements = static_cast<int>(measurements_);
    job.padded = shape_.padded();
    job.directions = directions_.data();
    job.deviations = deviations();
    job.deviation_stride = static_cast<int>(row_floats());
    job.signals = signals_.data();
    job.status = status_.data();
    job.starts = starts_.data();
    job.start_stride = max_parameters;
    with_fibres([&]<int Fibres>() { launch_fits<Fibres>(settings_, job, stream_); });
  }

  const float* deviations() const { return deviates_ ? rows_.data() + measurements_ : nullptr; }

  /// Calls use.template operator()<Fibres>().
  template <class Use>
  void with_fibres(Use&& use) const {
    switch (settings_.fibres) {
      case 1:
        return use.template operator()<1>();
      case 2:
        return use.template operator()<2>();
      case 3:
        return use.template operator()<3>();
      case 4:
        return use.template operator()<4>();
    }
  }

  void run_chains(std::size_t count) {
    chain_job job{};
    job.settings = chain_;
    job.width = shape_.width;
    job.slots = shape_.slots;
    job.count = static_cast<int>(count);
    job.directions = directions_.data();
    job.weightings = weightings_.data();
    job.deviations = deviations();
    job.deviation_stride = static_cast<int>(row_floats());
    job.signals = signals_.data();
    job.starts = starts_.data();
    job.status = status_.data();
    job.voxels = voxels_.data();
    job.samples = samples_.data();
    job.acceptance = acceptance_.data();
    with_fibres([&]<int Fibres>() { launch_chains<Fibres>(settings_, job, shape_, stream_); });
  }

  void fetch(std::size_t count, const result_view& there, const result_view& out, std::size_t first) {
    for (int id = 0; id < field_count; ++id) {
      if (out.values[id] == nullptr) continue;
      const std::size_t width = summary().width_of(id);
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(out.values[id] + first * width, there.values[id],
                                         count * width * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    }
    if (out.status != nullptr)
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(out.status + first, there.status, count, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
  }

  template <class T>
  void upload(device_buffer<T>& to, const T* from, std::size_t count) {
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }

  settings settings_;
  parameter_layout layout_;
  std::size_t measurements_;
  bool deviates_;
  chain_shape shape_;
  chain_settings chain_{};
  std::size_t piece_limit_ = std::size_t{1} << 20;
  cuda_stream stream_;
  device_buffer<float4> directions_;
  device_buffer<float> weightings_, rows_, signals_, starts_, acceptance_, samples_;
  std::array<device_buffer<float>, field_count> fields_;
  device_buffer<std::uint64_t> voxels_;
  device_buffer<std::uint8_t> status_;
};

}  // namespace

std::unique_ptr<estimator> make_cuda_estimator(const device&, const gradient_table& gradients, const settings& s,
                                               bool gradient_deviation) {
  return std::make_unique<cuda_estimator>(gradients, s, gradient_deviation);
}

}  // namespace voxherd::ballstick
