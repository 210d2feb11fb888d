#pragma once

#include "kernels/device/voxelwise_cuda.cuh"
#include "kernels/portable/cuda_team.cuh"
#include "kernels/voxel_model/cuda_estimator.cuh"
#include "kernels/voxel_model/model_estimator.hpp"
#include "kernels/voxel_model/model_voxel.hpp"
#include "kernels/voxel_model/normal_equations_cuda.cuh"

namespace voxherd::voxel_model {

/// Tables of the nominal gradients; null: computed when used.
struct model_tables {
  const double* precise = nullptr;
  const float* rounded = nullptr;
};

/// Memory for one voxel at a time that a team's lanes share.
template <class Teams, class Model>
struct voxel_scratch {
  static constexpr int values = value_count<Model>;
  fit_scratch<typename Teams::fit, values> fit;
  typename state_of<Model, double, true>::type fit_state;
  typename state_of<Model, double, false>::type start_state;
  chain_scratch<values + 1> chain;
  typename state_of<Model, float, false>::type chain_states[2];
  float start[values + 1], acceptance[values + 1];
};

/// Arrays of numbers of the run's lengths.
struct voxel_memory {
  double* precise;  ///< padded
  float* rounded;   ///< padded
  float* samples;   ///< voxel_sizes::sample_floats
};

/// Fits, and samples, one voxel. Teams::fit and Teams::chain: the same lanes, for double and float. All in one kernel:
/// with one for the fit and one for the chain Bingham's chains take 26 % less time on an H200, but the compiler then
/// fuses other products and sums, and the last bit of one fit in a thousand changes. So it may with any other change of
/// this text.
template <class Teams, class Model>
VOXHERD_FUNCTION inline void estimate_voxel(const model_run<Model>& run, std::uint64_t voxel, const float* row,
                                            const std::uint8_t* statuses, const float* prepared,
                                            const voxel_memory& memory, const model_tables& tables,
                                            voxel_scratch<Teams, Model>& s, std::size_t item,
                                            const output_arrays<model_outputs<Model>>& out) {
  constexpr int n = parameter_count<Model>;
  const typename Teams::fit fit_team;
  if (statuses[item] != 0) return;
  fit_team.share(run.padded, [&](int i) { memory.rounded[i] = prepared[i]; });
  fit_team.sync();
  fit_team.share(run.padded, [&](int i) { memory.precise[i] = memory.rounded[i]; });
  fit_team.sync();
  const float* const deviation = run.deviates ? row + run.measurements : nullptr;
  const voxel_data<double> precise{run.precise,      memory.precise, deviation,
                                   run.measurements, run.padded,     tables.precise};
  const model_result<n> best =
      fit_model(fit_team, precise, run.model, run.numbers, run.noise, run.sigma, s.fit, s.fit_state, s.start_state);
  fit_team.once([&] { detail::store(run, best, s.start, item, out); });
  if (run.samples == 0) return;
  fit_team.sync();

  using team = typename Teams::chain;
  const team chain_team;
  const voxel_data<float> rounded{run.rounded, memory.rounded, deviation, run.measurements, run.padded, tables.rounded};
  const auto sample = [&](auto noise) {
    using steps = model_sampler<team, Model, decltype(noise)>;
    steps one(chain_team, rounded, run.model, run.numbers, run.samples_tau, run.samples, s.chain, s.chain_states,
              s.start);
    chain<team, steps, chain_scratch<value_count<Model> + 1>>(chain_team, run.lengths, s.chain, one)
        .run(voxel, memory.samples, s.acceptance, true);
  };
  if (run.noise == noise_model::rician)
    sample(rician_noise(run.measurements, 1));
  else
    sample(gaussian_noise(run.measurements, 1));
  chain_team.sync();
  constexpr int chained = value_count<Model> + 1;
  chain_team.share(chained, [&](int p) { detail::store_chain(run, p, memory.samples, s.acceptance, item, out); });
  if constexpr (directional<Model>) {
    using outputs = model_outputs<Model>;
    chain_team.share(static_cast<int>(outputs::axis_count),
                     [&](int i) { detail::store_axis(run, static_cast<std::size_t>(i), memory.samples, item, out); });
    chain_team.share(static_cast<int>(outputs::derived_count), [&](int i) {
      detail::store_derived(run, static_cast<std::size_t>(i), memory.samples, item, out);
    });
  }
}

struct cuda_teams {
  using fit = cuda_team<double, 32>;
  using chain = cuda_team<float, 32>;
};

/// One warp per voxel.
template <class Model>
__global__ void __launch_bounds__(32)
    model_kernel(const model_run<Model> run, const model_tables tables, const voxel_batch<model_outputs<Model>> batch) {
  __shared__ voxel_scratch<cuda_teams, Model> scratch;
  extern __shared__ double signals[];
  const std::size_t item = blockIdx.x;
  estimate_voxel<cuda_teams, Model>(run, batch.voxels[item],
                                    batch.rows + item * (run.measurements + (run.deviates ? 9 : 0)), batch.status,
                                    batch.signals + item * run.padded,
                                    {signals, reinterpret_cast<float*>(signals + run.padded),
                                     batch.samples + item * ((value_count<Model> + 1) * run.samples)},
                                    tables, scratch, item, batch.out);
}

template <class Model, class Team>
__global__ void __launch_bounds__(32)
    fill_table_kernel(const Model model, const voxel_data<typename Team::number> data, typename Team::number* table) {
  fill_table(Team{}, data, model, table);
}

/// What the stages of all models have in common whose outputs follow from their parameters.
template <class Model>
class cuda_model_base {
 public:
  using outputs = model_outputs<Model>;

  /// `lanes`: of the widest team.
  cuda_model_base(const Model& model, const gradient_table& gradients, bool deviates, const settings& s, int lanes = 32)
      : run_(make_model_run(model, gradients, deviates, s, lanes, sent_)), sizes_(run_.sizes()) {}

  const voxel_sizes& sizes() const { return sizes_; }
  const output_sizes<outputs>& bytes() const { return run_.bytes; }
  model_summary<Model> summary() const { return {run_}; }

 protected:
  sent_numbers sent_;
  model_run<Model> run_;
  voxel_sizes sizes_;
};

/// The stages of a model that is only a header.
template <class Model>
class cuda_model_stages : public cuda_model_base<Model> {
  using cuda_model_base<Model>::run_;

 public:
  using outputs = model_outputs<Model>;

  cuda_model_stages(const Model& model, const gradient_table& gradients, bool deviates, const settings& s)
      : cuda_model_base<Model>(model, gradients, deviates, s) {
    if constexpr (tabulated<Model>)
      if (!deviates) {
        precise_table_ = make_table<double>(run_.precise);
        rounded_table_ = make_table<float>(run_.rounded);
        VOXHERD_CUDA_CHECK(cudaDeviceSynchronize());
      }
  }

  void queue(const voxel_batch<outputs>& batch, cudaStream_t stream) const {
    launch_blocks(model_kernel<Model>, static_cast<std::size_t>(batch.count),
                  {32, static_cast<std::size_t>(run_.padded) * (sizeof(double) + sizeof(float))}, stream, run_,
                  tables(), batch);
  }

  /// The kernel has written everything.
  struct no_summary {
    VOXHERD_FUNCTION void operator()(const float*, const float*, std::size_t, const output_arrays<outputs>&) const {}
  };
  no_summary summary() const { return {}; }

 private:
  model_tables tables() const { return {precise_table_.data(), rounded_table_.data()}; }

  template <class Number>
  device_buffer<Number> make_table(const gradient_columns<Number>& columns) const {
    device_buffer<Number> table(static_cast<std::size_t>(table_numbers<Model> * run_.padded));
    const voxel_data<Number> data{columns, nullptr, nullptr, run_.measurements, run_.padded};
    launch_blocks(fill_table_kernel<Model, cuda_team<Number, 32>>, 1, {32}, nullptr, run_.model, data, table.data());
    return table;
  }

  device_buffer<double> precise_table_;
  device_buffer<float> rounded_table_;
};

}  // namespace voxherd::voxel_model
