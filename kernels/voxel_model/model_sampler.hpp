#pragma once

#include "kernels/voxel_model/chain.hpp"
#include "kernels/voxel_model/frame.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/noise.hpp"
#include "kernels/voxel_model/voxel_data.hpp"

namespace voxherd::voxel_model {

/// Metropolis sampling of one voxel's parameters, for `chain`: every update computes all signals again.
template <class Team, class Model, class Noise>
class model_sampler {
  using real = typename Team::real;
  static constexpr int n = parameter_count<Model>;
  static constexpr int values = value_count<Model>;

 public:
  using state = typename state_of<Model, float, false>::type;

  /// `start`: inside the bounds, with tau also where it is not sampled. `stride`: between the samples of two
  /// parameters. `states`: two.
  template <class Scratch>
  VOXHERD_FUNCTION model_sampler(const Team& team, const voxel_data<float>& data, const Model& model,
                                 const parameter_numbers<n>& numbers, bool samples_tau, int stride, Scratch& scratch,
                                 state* states, const float* start)
      : team_(team),
        data_(data),
        model_(model),
        numbers_(numbers),
        samples_tau_(samples_tau),
        stride_(stride),
        now_state_(states),
        trial_state_(states + 1),
        noise_(data.count, start[values]) {
    VOXHERD_UNROLL
    for (int p = 0; p <= n; ++p) now_[p] = start[p];
    for (int i = 0; i < 3; ++i) angles_.set(i, i < turn_count<Model> ? start[n + 1 + i] : 0.0f);
    team_.share(count(), [&](int p) {
      scratch.step_sd[p] = p < n         ? static_cast<float>(numbers_.first_step[p])
                           : p == n      ? 0.1f * start[p]
                           : is_angle(p) ? 0.2f
                                         : 0.5f * start[p];
      scratch.accepted[p] = 0;
      scratch.accepted_total[p] = 0;
    });
    prepare(now_, *now_state_);
    noise_.start(team_, lane_sum(now_, angles_, *now_state_));
    team_.sync();
  }

  VOXHERD_FUNCTION int count() const { return samples_tau_ ? values + 1 : values; }
  VOXHERD_FUNCTION bool is_angle(int p) const { return p > n && p < values; }

  VOXHERD_FUNCTION unsigned one_jump(const prepared_draw* draws) {
    unsigned accepted = 0;
    if constexpr (Noise::model == noise_model::rician)
      if (samples_tau_) accepted |= update_tau(draws[values]) << values;
    VOXHERD_UNROLL_BY(1)
    for (int p = 0; p <= n; ++p) accepted |= update(p, draws[p]) << p;
    VOXHERD_UNROLL_BY(1)
    for (int p = n + 1; p < values; ++p) accepted |= update_angle(p, draws[p]) << p;
    return accepted;
  }

  VOXHERD_FUNCTION void store_sample(float* column) const {
    VOXHERD_UNROLL
    for (int p = 0; p <= n; ++p) column[p * stride_] = now_[p];
    for (int p = n + 1; p < values; ++p) column[p * stride_] = angles_[p - n - 1];
    if constexpr (Noise::model == noise_model::rician)
      if (samples_tau_) column[values * stride_] = noise_.tau;
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
    bool is_prepared = false;
    if constexpr (directional<Model>) {
      prior += model_.prior_energy(parameters(trial).value) - model_.prior_energy(parameters(now_).value);
      is_prepared = p >= Model::first_prepared && p < prepared_end<Model>;
      if (is_prepared) prepare(trial, *trial_state_);
    }
    const real sum = lane_sum(trial, angles_, is_prepared ? *trial_state_ : *now_state_);
    if (!accepts(team_, noise_, supported, sum, prior, draw)) return 0;
    VOXHERD_UNROLL
    for (int i = 0; i <= n; ++i) now_[i] = trial[i];
    if (!is_prepared) return 1;
    state* const kept = now_state_;
    now_state_ = trial_state_;
    trial_state_ = kept;
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_angle(int p, const prepared_draw& draw) {
    frame_angles trial = angles_;
    const int i = p - n - 1;
    trial.set(i, angles_[i] + draw.step);
    const float prior =
        i == 0 ? lane::log2(fabsf(angles_.last.sin_th) * lane::reciprocal(fabsf(trial.last.sin_th))) : 0.0f;
    if (!accepts(team_, noise_, true, lane_sum(now_, trial, *now_state_), prior, draw)) return 0;
    angles_ = trial;
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_tau(const prepared_draw& draw) {
    const float tau = noise_.tau;
    const float trial = tau + draw.step;
    const float prior = -static_cast<float>(data_.count) * lane::log2(trial * lane::reciprocal(tau));
    noise_.tau = trial;
    if (accepts(team_, noise_, trial > 0.0f, lane_sum(now_, angles_, *now_state_), prior, draw)) return 1;
    noise_.tau = tau;
    return 0;
  }

  /// Units of ln 2.
  VOXHERD_FUNCTION float prior_energy(int p, float value) const {
    const float deviation =
        (value - static_cast<float>(numbers_.prior[p].mean)) / static_cast<float>(numbers_.prior[p].sd);
    return 0.5f * log2_e * deviation * deviation;
  }

  struct model_parameters {
    float value[n];
  };
  VOXHERD_FUNCTION static model_parameters parameters(const float (&at)[n + 1]) {
    model_parameters own;
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) own.value[i] = at[i];
    return own;
  }

  VOXHERD_FUNCTION void prepare(const float (&at)[n + 1], state& to) const {
    if constexpr (directional<Model>) model_.prepare(team_, parameters(at).value, to);
  }

  VOXHERD_FUNCTION real lane_sum(const float (&at)[n + 1], const frame_angles& angles, const state& prepared) const {
    const model_parameters own = parameters(at);
    frame<float> axes{};
    if constexpr (directional<Model>) axes = angles.axes();
    real total(0.0f);
    for (int slot = 0; slot < data_.slots(team_); ++slot) {
      real by[n + turn_count<Model>];
      const auto g = data_.gradient_at(team_, slot);
      const auto table = data_.table_at(team_, model_, g.b_s_per_mm2, slot);
      const real relative =
          attenuation_in(axes, prepared, model_, g, table, own.value, by) * data_.is_measured(team_, slot);
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
  state *now_state_, *trial_state_;
  Noise noise_;
  float now_[n + 1];
  frame_angles angles_{};
};

}  // namespace voxherd::voxel_model
