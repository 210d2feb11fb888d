#include "kernels/ballstick/ballstick.hpp"
#include "kernels/ballstick/cuda_jobs.cuh"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/summary.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"

namespace voxherd::ballstick {

namespace {

struct prepare_each {
  voxel_preparer prepare;
  const float* rows;
  std::size_t row_floats;
  float* padded;
  std::uint8_t* status;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    const std::size_t i = n;
    status[i] = static_cast<std::uint8_t>(
        prepare(rows + i * row_floats, padded + i * static_cast<std::size_t>(prepare.padded)));
  }
};

struct summarise_each {
  chain_summary summarise;
  const float *samples, *accepted;
  const std::uint8_t* status;
  result_arrays out;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    const std::size_t i = n;
    out.put<"status">(i, status[i]);
    if (status[i] != 0) return summarise.clear(i, out);
    const auto sample_floats =
        static_cast<std::size_t>(summarise.layout.rows()) * static_cast<std::size_t>(summarise.sample_count);
    summarise(samples + i * sample_floats, accepted + i * max_parameters, i, out);
  }
};

class cuda_estimator final : public estimator {
 public:
  cuda_estimator(const gradient_table& gradients, const settings& s, bool gradient_deviation)
      : settings_(s),
        layout_(make_parameter_layout(s)),
        measurements_(gradients.size()),
        deviates_(gradient_deviation),
        shape_(shape_for(static_cast<int>(gradients.size()))),
        summarise_(s, gradients.size()),
        results_(summarise_.widths) {
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

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) override {
    if (count == 0) return;
    result_arrays results;
    reserve(count, out, results);
    upload(rows_, rows, count * row_floats());
    upload(voxels_, voxels, count);
    each_on_gpu(stream_, static_cast<std::uint32_t>(count),
                prepare_each{{static_cast<int>(measurements_), shape_.padded(), settings_.noise},
                             rows_.data(),
                             row_floats(),
                             signals_.data(),
                             status_.data()});
    run_fits(count);
    run_chains(count);
    each_on_gpu(stream_, static_cast<std::uint32_t>(count),
                summarise_each{summarise_, samples_.data(), acceptance_.data(), status_.data(), results});
    results_.fetch(count, results.array, out.array, stream_);
    stream_.wait();
  }

  void release_memory() override {
    rows_ = {}, signals_ = {}, starts_ = {}, acceptance_ = {}, samples_ = {};
    voxels_ = {};
    status_ = {};
    results_.release();
  }

 private:
  std::size_t row_floats() const { return measurements_ + (deviates_ ? 9 : 0); }
  std::size_t sample_floats() const {
    return static_cast<std::size_t>(layout_.rows()) * static_cast<std::size_t>(settings_.samples());
  }

  void reserve(std::size_t count, const result_arrays& out, result_arrays& results) {
    rows_.reserve(count * row_floats());
    signals_.reserve(count * static_cast<std::size_t>(shape_.padded()));
    voxels_.reserve(count);
    status_.reserve(count);
    starts_.reserve(count * max_parameters);
    acceptance_.reserve(count * max_parameters);
    samples_.reserve(count * sample_floats());
    results_.reserve(count, out.array, results.array);
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
  cuda_stream stream_;
  device_buffer<float4> directions_;
  device_buffer<float> weightings_, rows_, signals_, starts_, acceptance_, samples_;
  chain_summary summarise_;
  output_buffers<result_arrays::count> results_;
  device_buffer<std::uint64_t> voxels_;
  device_buffer<std::uint8_t> status_;
};

}  // namespace

std::unique_ptr<estimator> make_cuda_estimator(const gradient_table& gradients, const settings& s,
                                               bool gradient_deviation) {
  return std::make_unique<cuda_estimator>(gradients, s, gradient_deviation);
}

}  // namespace voxherd::ballstick
