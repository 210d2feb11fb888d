#pragma once

#include "kernels/voxel_model/chain.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/noise.hpp"
#include "kernels/voxel_model/voxel_data.hpp"

namespace voxherd::voxel_model {

/// Metropolis sampling of one voxel's parameters, for `chain`: every update computes all signals again.
template <class Team, class Model, class Noise>
class model_sampler {
  using real = typename Team::real;
  static constexpr int n = parameter_count<Model>;

 public:
  /// `start`: inside the bounds, with tau also where it is not sampled. `stride`: between the samples of two
  /// parameters.
  template <class Scratch>
  VOXHERD_FUNCTION model_sampler(const Team& team, const voxel_data<float>& data, const Model& model,
                                 const parameter_numbers<n>& numbers, bool samples_tau, int stride, Scratch& scratch,
                                 const float* start)
      : team_(team),
        data_(data),
        model_(model),
        numbers_(numbers),
        samples_tau_(samples_tau),
        stride_(stride),
        noise_(data.count, start[n + 1]) {
    VOXHERD_UNROLL
    for (int p = 0; p <= n; ++p) now_[p] = start[p];
    team_.share(count(), [&](int p) {
      scratch.step_sd[p] = p < n    ? static_cast<float>(numbers_.first_step[p])
                           : p == n ? 0.1f * start[p]
                                    : 0.5f * start[p];
      scratch.accepted[p] = 0;
      scratch.accepted_total[p] = 0;
    });
    noise_.start(team_, lane_sum(now_));
    team_.sync();
  }

  VOXHERD_FUNCTION int count() const { return samples_tau_ ? n + 2 : n + 1; }
  VOXHERD_FUNCTION bool is_angle(int /*p*/) const { return false; }

  VOXHERD_FUNCTION unsigned one_jump(const prepared_draw* draws) {
    unsigned accepted = 0;
    if constexpr (Noise::model == noise_model::rician)
      if (samples_tau_) accepted |= update_tau(draws[n + 1]) << (n + 1);
    VOXHERD_UNROLL
    for (int p = 0; p <= n; ++p) accepted |= update(p, draws[p]) << p;
    return accepted;
  }

  VOXHERD_FUNCTION void store_sample(float* column) const {
    VOXHERD_UNROLL
    for (int p = 0; p <= n; ++p) column[p * stride_] = now_[p];
    if constexpr (Noise::model == noise_model::rician)
      if (samples_tau_) column[(n + 1) * stride_] = noise_.tau;
  }

 private:
  VOXHERD_FUNCTION unsigned update(int p, const prepared_draw& draw) {
    float trial[n + 1];
    VOXHERD_UNROLL
    for (int i = 0; i <= n; ++i) trial[i] = now_[i];
    trial[p] += draw.step;
    bool supported = trial[p] > 0.0f;
    float prior = 0;
    if (p < n) {
      supported = trial[p] > static_cast<float>(numbers_.low[p]) && trial[p] < static_cast<float>(numbers_.high[p]);
      if (numbers_.prior[p].sd > 0) prior = prior_energy(p, trial[p]) - prior_energy(p, now_[p]);
    }
    if (!supported) trial[p] = now_[p];  // a model need not be finite outside its bounds
    if (!accepts(team_, noise_, supported, lane_sum(trial), prior, draw)) return 0;
    VOXHERD_UNROLL
    for (int i = 0; i <= n; ++i) now_[i] = trial[i];
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_tau(const prepared_draw& draw) {
    const float tau = noise_.tau;
    const float trial = tau + draw.step;
    const float prior = -static_cast<float>(data_.count) * lane::log2(trial * lane::reciprocal(tau));
    noise_.tau = trial;
    if (accepts(team_, noise_, trial > 0.0f, lane_sum(now_), prior, draw)) return 1;
    noise_.tau = tau;
    return 0;
  }

  /// Units of ln 2.
  VOXHERD_FUNCTION float prior_energy(int p, float value) const {
    const float deviation =
        (value - static_cast<float>(numbers_.prior[p].mean)) / static_cast<float>(numbers_.prior[p].sd);
    return 0.5f * log2_e * deviation * deviation;
  }

  VOXHERD_FUNCTION real lane_sum(const float (&at)[n + 1]) const {
    float own[n];
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) own[i] = at[i];
    real total(0.0f);
    for (int slot = 0; slot < data_.slots(team_); ++slot) {
      real by[n];
      const real relative =
          model_.attenuation(data_.gradient_at(team_, slot), own, by) * data_.is_measured(team_, slot);
      const real measured = data_.signal(team_, slot);
      total = noise_.add(total, lane::fma(real(-at[n]), relative, measured), measured);
    }
    return total;
  }

  const Team& team_;
  const voxel_data<float>& data_;
  const Model& model_;
  const parameter_numbers<n>& numbers_;
  bool samples_tau_;
  int stride_;
  Noise noise_;
  float now_[n + 1];
};

}  // namespace voxherd::voxel_model
