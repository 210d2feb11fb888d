#pragma once

#include <cstdint>

#include "kernels/ballstick/voxel_signal.hpp"
#include "kernels/voxel_model/chain.hpp"

namespace voxherd::ballstick {

using voxel_model::prepared_draw;

using chain_scratch = voxel_model::chain_scratch<max_parameters>;

/// Random-walk Metropolis over one voxel's ball & stick parameters, one scalar at a time, by one team of lanes that
/// share the measurements (Behrens 2007; order, priors, proposals and adaptation as in bedpostX).
///
/// Single precision throughout: residuals are rebuilt from the model with every accepted diffusivity, so rounding does
/// not accumulate; sums over measurements are trees of a few dozen terms; energies enter only as differences, taken
/// before the large terms are summed.
template <class Team, class Measurements, class Arrays, class Attenuation, class Noise, int Fibres>
class sampler {
  using real = typename Team::real;

 public:
  /// `start`: the parameters in make_parameter_layout()'s order, inside their supports.
  VOXHERD_FUNCTION sampler(const Team& team, const Measurements& m, const chain_settings& settings, Arrays& a,
                           chain_scratch& scratch, const float* start)
      : team_(team),
        settings_(settings),
        layout_(make_parameter_layout(Attenuation::model, Fibres, settings.unattenuated, Noise::model)),
        scratch_(scratch),
        signal_(m, a),
        noise_(settings.measurements, value_at(start, layout_.tau)),
        s0_(start[layout_.s0]),
        d_(start[layout_.d]),
        d_std_(value_at(start, layout_.d_std)),
        ratio_(value_at(start, layout_.ratio)),
        f0_(value_at(start, layout_.f0)),
        attenuation_(d_, d_std_, ratio_, settings.max_weighting) {
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) {
      f_[k] = start[layout_.f(k)];
      angles_[k].set_th(start[layout_.th(k)]);
      angles_[k].set_ph(start[layout_.ph(k)]);
    }
    team_.share(layout_.count, [&](int p) {
      scratch_.step_sd[p] = initial_step_sd(p, start);
      scratch_.accepted[p] = 0;
      scratch_.accepted_total[p] = 0;
    });
    const signal_weights<Fibres> w = weights();
    noise_.start(team_, try_attenuation(attenuation_, w));
    signal_.keep_attenuation(w);
    team_.sync();
  }

  /// Runs the complete chain of the voxel with this index in the image. `samples`: (row, sample); `acceptance`:
  /// each parameter's share of accepted jumps. `store`: whether to store results (the last teams of a grid may have no
  /// voxel).
  VOXHERD_FUNCTION void run(std::uint64_t voxel, float* samples, float* acceptance, bool store) {
    voxel_model::chain<Team, sampler, chain_scratch>(team_, settings_.lengths, scratch_, *this)
        .run(voxel, samples, acceptance, store);
  }

  // The steps of voxel_model::chain.
  VOXHERD_FUNCTION int count() const { return layout_.count; }
  VOXHERD_FUNCTION bool is_angle(int p) const { return p >= layout_.first_fibre && (p - layout_.first_fibre) % 3 != 2; }

  VOXHERD_FUNCTION unsigned one_jump(const prepared_draw* draws) {
    unsigned accepted = 0;
    if (layout_.f0 >= 0) accepted |= update_unattenuated(draws[layout_.f0]) << layout_.f0;
    if constexpr (Noise::model == noise_model::rician) accepted |= update_tau(draws[layout_.tau]) << layout_.tau;
    VOXHERD_UNROLL_BY(1)
    for (int p = layout_.d; p < layout_.d + diffusion_parameters; ++p) accepted |= update_diffusion(p, draws[p]) << p;
    accepted |= update_s0(draws[layout_.s0]) << layout_.s0;
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) {
      signal_.begin_fibre(k, s0_ * f_[k]);
      VOXHERD_UNROLL_BY(angle_copies)
      for (int p = layout_.th(k); p <= layout_.ph(k); ++p) accepted |= update_angle(k, p, draws[p]) << p;
      accepted |= update_fraction(k, draws[layout_.f(k)]) << layout_.f(k);
      signal_.end_fibre(k, s0_ * f_[k]);
    }
    return accepted;
  }

  /// Column `sample` of (row, sample).
  VOXHERD_FUNCTION void store_sample(float* column) const {
    const int stride = settings_.lengths.sampled_jumps / settings_.lengths.sample_every;
    column[layout_.count * stride] = static_cast<float>(noise_.sum);
    column[layout_.s0 * stride] = s0_;
    column[layout_.d * stride] = d_;
    if (layout_.d_std >= 0) column[layout_.d_std * stride] = d_std_;
    if (layout_.ratio >= 0) column[layout_.ratio * stride] = ratio_;
    if (layout_.f0 >= 0) column[layout_.f0 * stride] = f0_;
    if constexpr (Noise::model == noise_model::rician) column[layout_.tau * stride] = noise_.tau;
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) {
      column[layout_.th(k) * stride] = angles_[k].th;
      column[layout_.ph(k) * stride] = angles_[k].ph;
      column[layout_.f(k) * stride] = f_[k];
    }
  }

 private:
  /// A fibre's direction.
  struct direction : voxel_model::polar_direction {
    VOXHERD_FUNCTION fibre_vector vector(float scale) const {
      const float across = sin_th * scale;
      return {across * cos_ph, across * sin_ph, cos_th * scale};
    }
  };

  static constexpr int diffusion_parameters = static_cast<int>(Attenuation::model);  ///< d, then d_std, then R
  static constexpr int angle_copies =
      diffusion_parameters == 1 ? 2 : 1;  ///< the other models' code is three times as long
  static constexpr float max_std =
      Attenuation::model == diffusion_model::zeppelin ? max_diffusivity_std_zeppelin : max_diffusivity_std;

  VOXHERD_FUNCTION static float value_at(const float* start, int p) { return p < 0 ? 0.0f : start[p]; }

  /// A tenth of the starting value for scales, tau/2, and 0.2 for fractions and angles.
  VOXHERD_FUNCTION float initial_step_sd(int p, const float* start) const {
    if (p == layout_.tau) return 0.5f * start[p];
    if (p == layout_.s0 || p == layout_.d || p == layout_.d_std || p == layout_.ratio) return 0.1f * start[p];
    return 0.2f;
  }

  VOXHERD_FUNCTION float stick_sum() const {
    float sum = f0_;
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) sum += f_[k];
    return sum;
  }

  VOXHERD_FUNCTION signal_weights<Fibres> weights() const {
    signal_weights<Fibres> w;
    w.ball = s0_ * (1.0f - stick_sum());
    w.unattenuated = s0_ * f0_;
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) w.stick[k] = s0_ * f_[k];
    return w;
  }

  VOXHERD_FUNCTION real try_attenuation(const Attenuation& trial, const signal_weights<Fibres>& w) {
    fibre_vector fibre[Fibres];
    VOXHERD_UNROLL
    for (int k = 0; k < Fibres; ++k) fibre[k] = angles_[k].vector(trial.fibre_scale());
    return signal_.try_attenuation(trial, fibre, w, noise_);
  }

  VOXHERD_FUNCTION bool accept(bool supported, real lane_sum, float prior, const prepared_draw& draw) {
    return voxel_model::accepts(team_, noise_, supported, lane_sum, prior, draw);
  }

  VOXHERD_FUNCTION unsigned update_unattenuated(const prepared_draw& draw) {
    const float trial = f0_ + draw.step;
    const bool supported = trial > min_positive && trial < 1.0f && stick_sum() + draw.step <= 1.0f;
    const float prior = settings_.unattenuated_relevance ? lane::log2(trial * lane::reciprocal(f0_)) : 0.0f;
    if (!accept(supported, signal_.try_unattenuated(s0_ * draw.step, noise_), prior, draw)) return 0;
    f0_ = trial;
    signal_.keep_unattenuated(s0_ * draw.step);
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_tau(const prepared_draw& draw) {
    const float tau = noise_.tau;
    const float trial = tau + draw.step;
    const float prior = -static_cast<float>(settings_.measurements) * lane::log2(trial * lane::reciprocal(tau));
    noise_.tau = trial;
    if (accept(trial > 0.0f, signal_.sum(noise_), prior, draw)) return 1;
    noise_.tau = tau;
    return 0;
  }

  /// d, d_std and R, which every compartment's signal depends on; `p` is the parameter's index.
  VOXHERD_FUNCTION unsigned update_diffusion(int p, const prepared_draw& draw) {
    float d = d_, d_std = d_std_, ratio = ratio_, prior = 0;
    bool supported = false;
    if (p == layout_.d) {
      d += draw.step;
      supported = d > 1e-9f && d <= max_diffusivity;
      // model 3: Gamma with shape 3 and rate 4000 s/mm2
      if constexpr (Attenuation::model == diffusion_model::zeppelin)
        prior = -2.0f * lane::log2(d * lane::reciprocal(d_)) + 4000.0f * log2_e * draw.step;
    } else if (p == layout_.d_std) {
      d_std += draw.step;
      supported = d_std > min_diffusivity_std && d_std <= max_std;
      prior = lane::log2(d_std * lane::reciprocal(d_std_));
    } else {
      ratio += draw.step;
      supported = ratio_supported(ratio);
      prior = ratio_energy(ratio) - ratio_energy(ratio_);
    }
    const Attenuation trial(supported ? d : d_, supported ? d_std : d_std_, supported ? ratio : ratio_,
                            settings_.max_weighting);
    const signal_weights<Fibres> w = weights();
    if (!accept(supported, try_attenuation(trial, w), prior, draw)) return 0;
    d_ = d;
    d_std_ = d_std;
    ratio_ = ratio;
    attenuation_ = trial;
    signal_.keep_attenuation(w);
    return 1;
  }

  VOXHERD_FUNCTION bool ratio_supported(float ratio) const {
    const float least = lane::max(settings_.ratio_mean - 2.0f * settings_.ratio_std, 1e-8f);
    const float most = settings_.ratio_mean > 0.5f ? 1.0f : 2.0f * settings_.ratio_mean;
    return ratio > least && ratio <= most;
  }

  VOXHERD_FUNCTION float ratio_energy(float ratio) const {
    const float deviation = (ratio - settings_.ratio_mean) * lane::reciprocal(settings_.ratio_std);
    return log2_e * deviation * deviation;
  }

  VOXHERD_FUNCTION unsigned update_s0(const prepared_draw& draw) {
    const float trial = s0_ + draw.step;
    const float factor = trial * lane::reciprocal(s0_);
    if (!accept(trial > 0.0f, signal_.try_scale(factor, noise_), 0.0f, draw)) return 0;
    s0_ = trial;
    signal_.keep_scale(factor);
    return 1;
  }

  /// th and ph of fibre k; `p` is the parameter's index. Uniform on the sphere: p(th) ~ |sin th|.
  VOXHERD_FUNCTION unsigned update_angle(int k, int p, const prepared_draw& draw) {
    direction trial = angles_[k];
    float prior = 0;
    if (p == layout_.th(k)) {
      trial.set_th(trial.th + draw.step);
      prior = lane::log2(fabsf(angles_[k].sin_th) * lane::reciprocal(fabsf(trial.sin_th)));
    } else {
      trial.set_ph(trial.ph + draw.step);
    }
    const fibre_vector v = trial.vector(attenuation_.fibre_scale());
    if (!accept(true, signal_.try_direction(v, s0_ * f_[k], attenuation_, noise_), prior, draw)) return 0;
    angles_[k] = trial;
    signal_.keep_direction(k);
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_fraction(int k, const prepared_draw& draw) {
    const float trial = f_[k] + draw.step;
    const bool supported = trial > min_positive && trial < 1.0f && stick_sum() + draw.step <= 1.0f;
    const bool relevance = k == 0 ? settings_.relevance_of_first : settings_.relevance_of_others;
    const float prior = relevance ? settings_.relevance_weight * lane::log2(trial * lane::reciprocal(f_[k])) : 0.0f;
    if (!accept(supported, signal_.try_fraction(k, s0_ * trial, s0_ * draw.step, noise_), prior, draw)) return 0;
    f_[k] = trial;
    signal_.keep_fraction(s0_ * draw.step);
    return 1;
  }

  const Team& team_;
  const chain_settings& settings_;
  const parameter_layout layout_;
  chain_scratch& scratch_;
  voxel_signal<Team, Measurements, Arrays, Attenuation, Noise, Fibres> signal_;
  Noise noise_;
  float s0_, d_, d_std_, ratio_, f0_;
  Attenuation attenuation_;
  float f_[Fibres];
  direction angles_[Fibres];
};

/// Calls use.template operator()<Attenuation, Noise, Fibres>() with the kernel's types for these settings: the only
/// place that turns run-time choices into compile-time ones.
template <int Fibres, class Use>
void with_types_of_fibres(const settings& s, Use&& use) {
  const bool rician = s.noise == noise_model::rician;
  switch (s.model) {
    case diffusion_model::mono_exponential:
      return rician ? use.template operator()<mono_exponential, rician_noise, Fibres>()
                    : use.template operator()<mono_exponential, gaussian_noise, Fibres>();
    case diffusion_model::gamma:
      return rician ? use.template operator()<gamma_distributed, rician_noise, Fibres>()
                    : use.template operator()<gamma_distributed, gaussian_noise, Fibres>();
    case diffusion_model::zeppelin:
      return rician ? use.template operator()<zeppelin, rician_noise, Fibres>()
                    : use.template operator()<zeppelin, gaussian_noise, Fibres>();
  }
}

}  // namespace voxherd::ballstick
