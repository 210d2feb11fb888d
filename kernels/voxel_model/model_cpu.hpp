#pragma once

#include "kernels/device/voxelwise_cpu.hpp"
#include "kernels/voxel_model/cpu_estimator.hpp"
#include "kernels/voxel_model/model_estimator.hpp"
#include "kernels/voxel_model/model_voxel.hpp"
#include "kernels/voxel_model/normal_equations_cpu.hpp"

namespace voxherd::voxel_model {

// Instantiated for each model whose outputs follow from its parameters.

template <class Model>
std::vector<output_spec> list_outputs(const settings_of<Model>& s) {
  return output_specs<outputs_of<Model>>(s);
}

template <class Model>
std::size_t device_bytes_per_voxel(const settings_of<Model>& s, std::size_t measurements, bool deviates) {
  constexpr std::size_t max_padding = 288, parameters = static_cast<std::size_t>(value_count<Model>) + 1;
  return output_bytes_per_item<outputs_of<Model>>(s) +
         sizeof(float) * (2 * measurements + (deviates ? 9 : 0) + max_padding +
                          parameters * (static_cast<std::size_t>(s.samples) + 2)) +
         sizeof(std::uint64_t) + 1;
}

/// What the stages of all models have in common whose outputs follow from their parameters.
template <class Model>
class cpu_model_base {
 public:
  using outputs = model_outputs<Model>;

  cpu_model_base(const Model& model, const gradient_table& gradients, bool deviates, const settings& s)
      : run_(make_model_run(model, gradients, deviates, s, cpu_team<float>::lanes, kept_)), sizes_(run_.sizes()) {}

  const voxel_sizes& sizes() const { return sizes_; }
  const output_sizes<outputs>& bytes() const { return run_.bytes; }
  void summarise(const float* samples, const float* acceptance, std::size_t item,
                 const output_arrays<outputs>& out) const {
    model_summary<Model>{run_}(samples, acceptance, item, out);
  }

 protected:
  kept_numbers kept_;
  model_run<Model> run_;
  voxel_sizes sizes_;
};

/// The stages of a model that is only a header.
template <class Model>
class cpu_model_stages : public cpu_model_base<Model> {
  using fit_team = cpu_team<double>;
  using chain_team = cpu_team<float>;
  using cpu_model_base<Model>::run_;

 public:
  using outputs = model_outputs<Model>;

  cpu_model_stages(const Model& model, const gradient_table& gradients, bool deviates, const settings& s)
      : cpu_model_base<Model>(model, gradients, deviates, s) {
    if (!deviates) tabulate(nullptr, precise_table_, rounded_table_);
  }

  class worker {
   public:
    explicit worker(const cpu_model_stages& stages)
        : stages_(stages), run_(stages.run_), precise_(static_cast<std::size_t>(run_.padded)) {}

    void fit(const float* signals, const float* deviation, float* start, std::size_t item,
             const output_arrays<outputs>& out) {
      std::copy_n(signals, precise_.size(), precise_.begin());
      if (deviation != nullptr) stages_.tabulate(deviation, precise_table_, rounded_table_);
      signals_ = signals;
      deviation_ = deviation;
      const auto data = stages_.make_data(precise_.data(), deviation, precise_table_);
      const auto best = fit_model(fit_team{}, data, run_.model, run_.numbers, run_.noise, run_.sigma, fit_scratch_,
                                  fit_state_, start_state_);
      detail::store(run_, best, start, item, out);
    }

    void sample(std::uint64_t voxel, const float* start, float* samples, float* acceptance) {
      const auto data = stages_.make_data(signals_, deviation_, rounded_table_);
      sample_model(chain_team{}, run_, data, voxel, start, samples, acceptance, chain_scratch_, chain_states_);
    }

   private:
    const cpu_model_stages& stages_;
    const model_run<Model>& run_;
    std::vector<double> precise_, precise_table_;
    std::vector<float> rounded_table_;
    const float *signals_ = nullptr, *deviation_ = nullptr;
    fit_scratch<fit_team, value_count<Model>> fit_scratch_;
    typename state_of<Model, double, true>::type fit_state_;
    typename state_of<Model, double, false>::type start_state_;
    chain_scratch<chain_parameters<Model>> chain_scratch_;
    typename state_of<Model, float, false>::type chain_states_[2];
  };

 private:
  /// `own`: the table of a voxel whose gradients deviate.
  voxel_data<double> make_data(const double* signals, const float* deviation, const std::vector<double>& own) const {
    return {run_.precise,      signals,     deviation,
            run_.measurements, run_.padded, (deviation == nullptr ? precise_table_ : own).data()};
  }
  voxel_data<float> make_data(const float* signals, const float* deviation, const std::vector<float>& own) const {
    return {run_.rounded,      signals,     deviation,
            run_.measurements, run_.padded, (deviation == nullptr ? rounded_table_ : own).data()};
  }

  void tabulate(const float* deviation, std::vector<double>& precise, std::vector<float>& rounded) const {
    if constexpr (tabulated<Model>) {
      precise.resize(static_cast<std::size_t>(table_numbers<Model> * run_.padded));
      fill_table(fit_team{}, make_data(static_cast<const double*>(nullptr), deviation, precise), run_.model,
                 precise.data());
      if (run_.samples == 0) return;
      rounded.resize(precise.size());
      fill_table(chain_team{}, make_data(static_cast<const float*>(nullptr), deviation, rounded), run_.model,
                 rounded.data());
    }
  }

  std::vector<double> precise_table_;
  std::vector<float> rounded_table_;
};

}  // namespace voxherd::voxel_model
