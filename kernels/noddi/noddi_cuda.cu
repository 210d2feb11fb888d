#include "kernels/device/launch.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/device/voxelwise_cuda.cuh"
#include "kernels/noddi/chain_cuda.cuh"
#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/noddi.hpp"
#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/summary.hpp"
#include "kernels/portable/cuda_team.cuh"
#include "kernels/voxel_model/normal_equations_cuda.cuh"
#include "kernels/voxel_model/voxel_preparer.hpp"

namespace voxherd::noddi {

namespace {

constexpr int fit_blocks_per_sm = 16;  ///< double-precision chains are long: warps hide them better than registers

/// All pointers are to device memory.
struct fit_job {
  int count;
  int measurements;  ///< K
  int padded;        ///< floats from one voxel's signals to the next one's
  const double *x, *y, *z, *b, *isotropic;
  const std::int32_t* shell;
  const std::uint8_t* low_b;
  fit_tables tables;
  const float* signals;        ///< (count, padded), in the protocol's order
  const std::uint8_t* status;  ///< (count): only voxels with 0 are fitted
  noise_model noise;
  double sigma;
  fit_result* results;  ///< (count)
};

/// One voxel's measurements for a warp.
struct cuda_measurements {
  const fit_job& job;
  int item, lane, terms;

  __device__ int count() const { return job.measurements; }
  __device__ int slots() const { return (job.measurements + 31) / 32; }

  __device__ measurement<double> load(int slot) const {
    const int i = 32 * slot + lane;
    if (i >= job.measurements) return {0, 0, 0, 0, 0, 0, 0, 0};
    return {job.x[i],
            job.y[i],
            job.z[i],
            job.b[i],
            job.isotropic[i],
            job.signals[static_cast<std::size_t>(item) * job.padded + i],
            1,
            static_cast<double>(job.low_b[i])};
  }

  struct coefficient_reader {
    int first;
    __device__ double operator()(const double* table, int power) const { return table[first + power]; }
  };
  __device__ coefficient_reader coefficient(int slot) const {
    const int i = 32 * slot + lane;
    return {i < job.measurements ? job.shell[i] * terms : 0};
  }
};

/// One warp per voxel, so that all lanes of a warp have the same loop lengths, which depend on the data.
template <int Terms, bool Dot>
__global__ void __launch_bounds__(32, fit_blocks_per_sm) fit_kernel(const fit_job job) {
  using team_type = cuda_team<double, 32>;
  __shared__ voxel_model::fit_scratch<team_type, fit_shape<Dot>::free> scratch;
  extern __shared__ double coefficients[];
  const team_type team;
  const int item = static_cast<int>(blockIdx.x);
  if (job.status[item] != 0) return;
  const cuda_measurements m{job, item, team.lane, Terms};
  double* const slope = coefficients + job.tables.shells * Terms;
  const fit_coefficients own{coefficients, slope, slope + job.tables.shells * Terms};
  const fit_result r = fit_voxel<Terms, Dot>(team, m, job.tables, own, job.noise, job.sigma, scratch);
  team.once([&] { job.results[item] = r; });
}

struct prepare_each {
  voxel_model::voxel_preparer prepare;
  const std::uint32_t* order;
  const float* rows;
  float* signals;
  std::uint8_t* status;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    status[n] =
        static_cast<std::uint8_t>(prepare(rows + std::size_t{n} * static_cast<std::size_t>(prepare.measurements),
                                          signals + std::size_t{n} * static_cast<std::size_t>(prepare.padded), order));
  }
};

struct store_each {
  output_sizes bytes;
  const fit_result* fits;
  const std::uint8_t* status;
  result_arrays out;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    out.put<"status">(n, status[n]);
    if (status[n] != 0) return clear(bytes, n, out);
    store(fits[n], n, out);
  }
};

struct start_each {
  const fit_result* fits;
  parameter_layout layout;
  float* starts;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    store_start(fits[n], layout, starts + std::size_t{n} * max_parameters);
  }
};

struct summarise_each {
  chain_summary summarise;
  const float *samples, *acceptance;
  const std::uint8_t* status;
  result_arrays out;

  VOXHERD_FUNCTION void operator()(std::uint32_t n) const {
    if (status[n] != 0) return;
    const std::size_t floats =
        static_cast<std::size_t>(summarise.layout.count) * static_cast<std::size_t>(summarise.sample_count);
    summarise(samples + n * floats, acceptance + std::size_t{n} * max_parameters, n, out);
  }
};

class cuda_estimator final : public estimator {
 public:
  cuda_estimator(const gradient_table& gradients, const settings& s)
      : settings_(s),
        bytes_(output_widths<noddi_outputs>(s)),
        layout_(make_parameter_layout(s.dot, s.samples_tau())),
        shape_(shape_for(static_cast<int>(gradients.size()))),
        results_(bytes_) {
    const protocol p(gradients, s);
    job_.measurements = static_cast<int>(p.measurements());
    job_.padded = shape_.padded();
    job_.x = send_(p.x), job_.y = send_(p.y), job_.z = send_(p.z), job_.b = send_(p.b);
    job_.isotropic = send_(p.isotropic), job_.shell = send_(p.shell), job_.low_b = send_(p.low_b);
    job_.tables = {p.shells(), p.terms, p.d_par, send_(p.stick), send_(p.grid_coefficient), send_(p.grid_mean_square)};
    job_.noise = s.noise;
    job_.sigma = s.sigma;
    order_ = send_(p.order);
    if (s.samples > 0) prepare_chains(p);
  }

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) override {
    if (count == 0) return;
    const std::size_t k = static_cast<std::size_t>(job_.measurements);
    result_arrays results;
    rows_.reserve(count * k);
    signals_.reserve(count * static_cast<std::size_t>(shape_.padded()));
    status_.reserve(count);
    fits_.reserve(count);
    results_.reserve(count, out.array, results.array);
    results.limit_to(count);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(rows_.data(), rows, count * k * sizeof(float), cudaMemcpyHostToDevice, stream_));
    each_on_gpu(
        stream_, static_cast<std::uint32_t>(count),
        prepare_each{
            {job_.measurements, job_.padded, settings_.noise}, order_, rows_.data(), signals_.data(), status_.data()});
    fit(count);
    each_on_gpu(stream_, static_cast<std::uint32_t>(count), store_each{bytes_, fits_.data(), status_.data(), results});
    if (settings_.samples > 0) sample(count, voxels, results);
    results_.fetch(count, results.array, out.array, stream_);
    stream_.wait();
  }

  void release_memory() override {
    rows_ = {}, signals_ = {}, starts_ = {}, samples_ = {}, acceptance_ = {};
    voxels_ = {};
    status_ = {};
    fits_ = {};
    results_.release();
  }

 private:
  void fit(std::size_t count) {
    fit_job job = job_;
    job.count = static_cast<int>(count);
    job.signals = signals_.data();
    job.status = status_.data();
    job.results = fits_.data();
    const std::size_t shared = sizeof(double) * static_cast<std::size_t>(2 * job.tables.shells * job.tables.terms +
                                                                         fit_coefficients::moment_numbers);
    const auto kernel = job.tables.terms == few_terms
                            ? (settings_.dot ? fit_kernel<few_terms, true> : fit_kernel<few_terms, false>)
                            : (settings_.dot ? fit_kernel<many_terms, true> : fit_kernel<many_terms, false>);
    launch_blocks(kernel, count, {32, shared}, stream_, job);
  }

  void prepare_chains(const protocol& p) {
    constexpr double log2_e = 1.4426950408889634;
    const std::vector<float> table = p.chain_table();
    chain_.settings = make_chain_settings(p, settings_, send_(table));
    std::vector<chain_direction> directions;
    std::vector<float2> weightings;
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape_.padded()); ++i) {
      const bool inside = i < p.measurements();
      directions.push_back(inside ? chain_direction{static_cast<float>(p.x[i]), static_cast<float>(p.y[i]),
                                                    static_cast<float>(p.z[i]), p.shell[i] * p.terms}
                                  : chain_direction{0, 0, 0, p.shells() * p.terms});
      weightings.push_back(
          inside ? float2{static_cast<float>(p.b[i] * p.d_par * log2_e), static_cast<float>(p.isotropic[i])}
                 : float2{padding_weighting, 0});
    }
    chain_.directions = send_(directions);
    chain_.weightings = send_(weightings);
    chain_.terms = p.terms;
    chain_.rician = settings_.noise == noise_model::rician;
    chain_.width = shape_.width;
    chain_.slots = shape_.slots;
  }

  void sample(std::size_t count, const std::uint64_t* voxels, const result_arrays& results) {
    const auto n = static_cast<std::uint32_t>(count);
    const auto sample_floats = static_cast<std::size_t>(layout_.count) * static_cast<std::size_t>(settings_.samples);
    voxels_.reserve(count);
    starts_.reserve(count * max_parameters);
    acceptance_.reserve(count * max_parameters);
    samples_.reserve(count * sample_floats);
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(voxels_.data(), voxels, count * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream_));
    each_on_gpu(stream_, n, start_each{fits_.data(), layout_, starts_.data()});
    chain_job job = chain_;
    job.count = static_cast<int>(count);
    job.signals = signals_.data();
    job.starts = starts_.data();
    job.status = status_.data();
    job.voxels = voxels_.data();
    job.samples = samples_.data();
    job.acceptance = acceptance_.data();
    launch_chains(job, shape_, stream_);
    each_on_gpu(
        stream_, n,
        summarise_each{{layout_, settings_.samples}, samples_.data(), acceptance_.data(), status_.data(), results});
  }

  settings settings_;
  output_sizes bytes_;
  parameter_layout layout_;
  chain_shape shape_;
  fit_job job_{};
  chain_job chain_{};
  const std::uint32_t* order_ = nullptr;
  sent_numbers send_;
  cuda_stream stream_;
  device_buffer<float> rows_, signals_, starts_, samples_, acceptance_;
  device_buffer<std::uint64_t> voxels_;
  device_buffer<std::uint8_t> status_;
  device_buffer<fit_result> fits_;
  output_buffers<result_arrays::count> results_;
};

}  // namespace

std::unique_ptr<estimator> make_cuda_estimator(const gradient_table& gradients, const settings& s) {
  return std::make_unique<cuda_estimator>(gradients, s);
}

}  // namespace voxherd::noddi
