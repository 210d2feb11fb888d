#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/shell_chain_cuda.cuh"
#include "kernels/noddi/watson_model.hpp"
#include "kernels/voxel_model/model_cuda.cuh"

namespace voxherd::noddi {

namespace {

constexpr int fit_blocks_per_sm = 16;  ///< double-precision chains are long: warps hide them better than registers

/// All pointers are to device memory.
struct fit_job {
  int measurements;  ///< K
  int padded;        ///< floats from one voxel's signals to the next one's
  const double *x, *y, *z, *b, *isotropic;
  const std::int32_t* shell;
  const std::uint8_t* low_b;
  fit_tables tables;
};

/// One voxel's measurements for a warp.
struct cuda_measurements {
  const fit_job& job;
  const float* signals;  ///< in the protocol's order
  int lane, terms;

  __device__ int count() const { return job.measurements; }
  __device__ int slots() const { return (job.measurements + 31) / 32; }

  __device__ measurement<double> load(int slot) const {
    const int i = 32 * slot + lane;
    if (i >= job.measurements) return {0, 0, 0, 0, 0, 0, 0, 0};
    return {job.x[i], job.y[i], job.z[i], job.b[i], job.isotropic[i], signals[i], 1, static_cast<double>(job.low_b[i])};
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
template <int Terms, class Model>
__global__ void __launch_bounds__(32, fit_blocks_per_sm)
    fit_kernel(const fit_job job, const voxel_model::model_run<Model> run,
               const voxel_model::voxel_batch<voxel_model::model_outputs<Model>> batch) {
  using team_type = cuda_team<double, 32>;
  constexpr bool dot = has_dot<Model>;
  __shared__ voxel_model::fit_scratch<team_type, fit_shape<dot>::free> scratch;
  extern __shared__ double coefficients[];
  const team_type team;
  const std::size_t item = blockIdx.x;
  if (batch.status[item] != 0) return;
  const cuda_measurements m{job, batch.signals + item * static_cast<std::size_t>(job.padded), team.lane, Terms};
  double* const slope = coefficients + job.tables.shells * Terms;
  const fit_coefficients own{coefficients, slope, slope + job.tables.shells * Terms};
  const auto best = fit_voxel<Terms, dot>(team, m, job.tables, own, run.noise, run.sigma, scratch);
  team.once([&] {
    voxel_model::detail::store(run, best, batch.starts + item * voxel_model::chain_parameters<Model>, item, batch.out);
  });
}

/// Fits and chains with tables of the signal by b-value.
template <class Model>
class shell_stages : public voxel_model::cuda_model_base<Model> {
  using base = voxel_model::cuda_model_base<Model>;
  using base::run_;
  using base::sent_;
  using base::sizes_;

 public:
  using outputs = typename base::outputs;

  shell_stages(const Model& model, const gradient_table& gradients, const voxel_model::settings& s)
      : base(model, gradients, false, s), shape_(shape_for(run_.measurements)) {
    const protocol p(gradients, model.diffusivities());
    sizes_.padded = shape_.padded();
    sizes_.order = sent_(p.order);
    fit_.measurements = run_.measurements;
    fit_.padded = sizes_.padded;
    fit_.x = sent_(p.x), fit_.y = sent_(p.y), fit_.z = sent_(p.z), fit_.b = sent_(p.b);
    fit_.isotropic = sent_(p.isotropic), fit_.shell = sent_(p.shell), fit_.low_b = sent_(p.low_b);
    fit_.tables = {p.shells(), p.terms, p.d_par, sent_(p.stick), sent_(p.grid_coefficient), sent_(p.grid_mean_square)};
    if (s.samples > 0) prepare_chains(p);
  }

  void queue(const voxel_model::voxel_batch<outputs>& batch, cudaStream_t stream) const {
    queue_fits(batch, stream);
    if (run_.samples > 0) queue_chains(batch, stream);
  }

 private:
  void queue_fits(const voxel_model::voxel_batch<outputs>& batch, cudaStream_t stream) const {
    const std::size_t shared = sizeof(double) * static_cast<std::size_t>(2 * fit_.tables.shells * fit_.tables.terms +
                                                                         fit_coefficients::moment_numbers);
    const auto kernel = fit_.tables.terms == few_terms ? fit_kernel<few_terms, Model> : fit_kernel<many_terms, Model>;
    launch_blocks(kernel, static_cast<std::size_t>(batch.count), {32, shared}, stream, fit_, run_, batch);
  }

  void queue_chains(const voxel_model::voxel_batch<outputs>& batch, cudaStream_t stream) const {
    chain_job job = chain_;
    job.count = batch.count;
    job.signals = batch.signals;
    job.starts = batch.starts;
    job.status = batch.status;
    job.voxels = batch.voxels;
    job.samples = batch.samples;
    job.acceptance = batch.acceptance;
    launch_chains(job, shape_, stream);
  }

  void prepare_chains(const protocol& p) {
    constexpr double log2_e = 1.4426950408889634;
    chain_.settings = make_chain_settings(p, run_, sent_(p.chain_table()));
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
    chain_.directions = sent_(directions);
    chain_.weightings = sent_(weightings);
    chain_.terms = p.terms;
    chain_.rician = run_.noise == noise_model::rician;
    chain_.width = shape_.width;
    chain_.slots = shape_.slots;
    chain_.parameters = sizes_.parameters;
    chain_.sample_floats = sizes_.sample_floats;
  }

  chain_shape shape_;
  fit_job fit_{};
  chain_job chain_{};
};

template <class Model>
voxel_model::estimator_of<Model> make_estimator(const Model& m, const gradient_table& g, bool deviates,
                                                const voxel_model::settings& s) {
  using namespace voxel_model;
  if (deviates) return std::make_unique<cuda_estimator<cuda_model_stages<Model>>>(m, g, true, s);
  return std::make_unique<cuda_estimator<shell_stages<Model>>>(m, g, s);
}

}  // namespace

}  // namespace voxherd::noddi

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_model> voxherd::voxel_model::make_cuda_estimator(
    const watson_model& m, const gradient_table& g, bool deviates, const settings& s) {
  return noddi::make_estimator(m, g, deviates, s);
}

template <>
voxherd::voxel_model::estimator_of<voxherd::watson_dot_model> voxherd::voxel_model::make_cuda_estimator(
    const watson_dot_model& m, const gradient_table& g, bool deviates, const settings& s) {
  return noddi::make_estimator(m, g, deviates, s);
}
