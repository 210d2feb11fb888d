#include "kernels/ballstick/ballstick.hpp"
#include "kernels/ballstick/cuda_jobs.cuh"
#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/summary.hpp"
#include "kernels/device/voxelwise_cuda.cuh"
#include "kernels/voxel_model/cuda_estimator.cuh"

namespace voxherd::ballstick {

namespace {

class cuda_stages {
 public:
  using outputs = posterior_outputs;
  using batch_type = voxel_model::voxel_batch<outputs>;

  cuda_stages(const gradient_table& gradients, const settings& s, bool deviates)
      : settings_(s),
        shape_(shape_for(static_cast<int>(gradients.size()))),
        sizes_(sizes_of(s, gradients.size(), shape_.padded(), deviates)),
        summarise_(s, gradients.size()) {
    const weighting_table table = make_weighting_table(gradients, static_cast<std::size_t>(shape_.padded()));
    chain_ = chain_settings_of(s, gradients.size(), table.max_weighting);
    std::vector<float4> directions;
    for (std::size_t i = 0; i < table.x.size(); ++i)
      directions.push_back({table.x[i], table.y[i], table.z[i], table.offset[i]});
    directions_ = sent_(directions);
    weightings_ = sent_(table.weighting);
  }

  const voxel_model::voxel_sizes& sizes() const { return sizes_; }
  const voxel_model::output_sizes<outputs>& bytes() const { return summarise_.widths; }
  chain_summary summary() const { return summarise_; }

  void queue(const batch_type& batch, cudaStream_t stream) const {
    queue_fits(batch, stream);
    queue_chains(batch, stream);
  }

 private:
  void queue_fits(const batch_type& batch, cudaStream_t stream) const {
    fit_job job{};
    job.count = batch.count;
    job.measurements = sizes_.measurements;
    job.padded = sizes_.padded;
    job.directions = directions_;
    job.deviations = deviations(batch);
    job.deviation_stride = sizes_.row_floats();
    job.signals = batch.signals;
    job.status = batch.status;
    job.starts = batch.starts;
    job.start_stride = max_parameters;
    with_fibres(settings_.fibres, [&]<int Fibres>() { launch_fits<Fibres>(settings_, job, stream); });
  }

  void queue_chains(const batch_type& batch, cudaStream_t stream) const {
    chain_job job{};
    job.settings = chain_;
    job.width = shape_.width;
    job.slots = shape_.slots;
    job.count = batch.count;
    job.directions = directions_;
    job.weightings = weightings_;
    job.deviations = deviations(batch);
    job.deviation_stride = sizes_.row_floats();
    job.signals = batch.signals;
    job.starts = batch.starts;
    job.status = batch.status;
    job.voxels = batch.voxels;
    job.samples = batch.samples;
    job.acceptance = batch.acceptance;
    with_fibres(settings_.fibres, [&]<int Fibres>() { launch_chains<Fibres>(settings_, job, shape_, stream); });
  }

  const float* deviations(const batch_type& batch) const {
    return sizes_.deviates ? batch.rows + sizes_.measurements : nullptr;
  }

  settings settings_;
  chain_shape shape_;
  voxel_model::voxel_sizes sizes_;
  chain_settings chain_;
  chain_summary summarise_;
  sent_numbers sent_;
  const float4* directions_;
  const float* weightings_;
};

}  // namespace

}  // namespace voxherd::ballstick

template <>
voxherd::voxel_model::estimator_of<voxherd::ballstick_model> voxherd::voxel_model::make_cuda_estimator(
    const ballstick_model&, const gradient_table& g, bool deviates, const ballstick::output_settings& s) {
  return std::make_unique<cuda_estimator<ballstick::cuda_stages>>(g, s.chain, deviates);
}
