#pragma once

#include "kernels/ballstick/attenuation.hpp"
#include "kernels/voxel_model/chain.hpp"
#include "kernels/voxel_model/noise.hpp"

namespace voxherd::ballstick {

using voxel_model::gaussian_noise;
using voxel_model::rician_noise;

/// A fibre's unit vector times attenuation.fibre_scale().
struct fibre_vector {
  float x, y, z;
};

/// Memory of a voxel's signals: slots of the current state, used all the time, and of the trial, used twice per jump.
template <class Array, class TrialArray, int Fibres>
struct signal_arrays {
  Array residual, ball, stick[Fibres], trial_direction;
  TrialArray trial_ball, trial_stick[Fibres];
};

/// S0 times the volume fractions.
template <int Fibres>
struct signal_weights {
  float stick[Fibres];
  float ball;
  float unattenuated;
};

/// The signals of one voxel's compartments and the residuals of their weighted sum, one measurement per lane and slot.
/// Each `try_` returns the noise model's sum over all measurements for a trial and leaves the current state as it is;
/// the `keep_` of the same name makes the trial current. A change of weights reuses the compartments' signals, so only
/// diffusivities and angles cost exponentials.
template <class Team, class Measurements, class Arrays, class Attenuation, class Noise, int Fibres>
class voxel_signal {
  using real = typename Team::real;
  using weights = signal_weights<Fibres>;

 public:
  VOXHERD_FUNCTION voxel_signal(const Measurements& m, Arrays& a) : m_(m), a_(a) {}

  VOXHERD_FUNCTION real try_attenuation(const Attenuation& t, const fibre_vector (&fibre)[Fibres], const weights& w,
                                        const Noise& noise) {
    return with_range(t, [&]<spread_range Range>() { return attenuation_pass<Range>(t, fibre, w, noise); });
  }

  VOXHERD_FUNCTION void keep_attenuation(const weights& w) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      a_.ball[s] = a_.trial_ball[s];
      real r = lane::fma(real(-w.ball), a_.ball[s], m_.signal(s));
      if (w.unattenuated != 0.0f) r = lane::fma(real(-w.unattenuated), unattenuated(s), r);
      VOXHERD_UNROLL
      for (int k = 0; k < Fibres; ++k) {
        a_.stick[k][s] = a_.trial_stick[k][s];
        r = lane::fma(real(-w.stick[k]), a_.stick[k][s], r);
      }
      a_.residual[s] = r;
    }
  }

  /// Between begin_fibre and end_fibre the residuals are those without fibre k, so that its three parameters can be
  /// tried quickly.
  VOXHERD_FUNCTION void begin_fibre(int k, float weight) { add_to_residual(a_.stick[k], weight); }
  VOXHERD_FUNCTION void end_fibre(int k, float weight) { add_to_residual(a_.stick[k], -weight); }

  /// A new direction of fibre k.
  VOXHERD_FUNCTION real try_direction(const fibre_vector& v, float weight, const Attenuation& t, const Noise& noise) {
    return with_range(t, [&]<spread_range Range>() { return direction_pass<Range>(v, weight, t, noise); });
  }

  VOXHERD_FUNCTION void keep_direction(int k) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) a_.stick[k][s] = a_.trial_direction[s];
  }

  /// Fibre k's weight becomes `weight`, of which `from_ball` comes from the ball.
  VOXHERD_FUNCTION real try_fraction(int k, float weight, float from_ball, const Noise& noise) {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const real without = lane::fma(real(from_ball), a_.ball[s], a_.residual[s]);
      add(noise, total, lane::fma(real(-weight), a_.stick[k][s], without), s);
    }
    return total.value();
  }

  VOXHERD_FUNCTION void keep_fraction(float from_ball) { add_to_residual(a_.ball, from_ball); }

  /// Moves `weight` from the ball to the unattenuated compartment.
  VOXHERD_FUNCTION real try_unattenuated(float weight, const Noise& noise) {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) add(noise, total, with_unattenuated(s, weight), s);
    return total.value();
  }

  VOXHERD_FUNCTION void keep_unattenuated(float weight) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) a_.residual[s] = with_unattenuated(s, weight);
  }

  /// Scales the predicted signal by `factor`.
  VOXHERD_FUNCTION real try_scale(float factor, const Noise& noise) {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) add(noise, total, scaled(s, factor), s);
    return total.value();
  }

  VOXHERD_FUNCTION void keep_scale(float factor) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) a_.residual[s] = scaled(s, factor);
  }

  /// The current state under another noise level.
  VOXHERD_FUNCTION real sum(const Noise& noise) const {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) add(noise, total, a_.residual[s], s);
    return total.value();
  }

 private:
  /// Chooses the shortest series that is exact enough for all measurements: one branch per pass.
  template <class Pass>
  VOXHERD_FUNCTION static real with_range(const Attenuation& t, Pass pass) {
    if constexpr (Attenuation::model != diffusion_model::mono_exponential) {
      const spread_range range = t.range();
      if (range == spread_range::wide) return pass.template operator()<spread_range::wide>();
      if (range == spread_range::narrow) return pass.template operator()<spread_range::narrow>();
    }
    return pass.template operator()<spread_range::tiny>();
  }

  using partial_sums = voxel_model::partial_sums<Team>;

  VOXHERD_FUNCTION void add(const Noise& noise, partial_sums& total, real residual, int s) const {
    if constexpr (Noise::model == noise_model::gaussian)
      total[s] = noise.add(total[s], residual, residual);
    else
      total[s] = noise.add(total[s], residual, m_.signal(s));
  }

  /// For passes without arrays in registers. A GPU's instruction cache is too small for all copies of long code.
  template <class Work>
  VOXHERD_FUNCTION void each_slot(const Work& work) const {
    if constexpr (Attenuation::model == diffusion_model::mono_exponential) {
      VOXHERD_UNROLL
      for (int s = 0; s < m_.slots(); ++s) work(s);
    } else {
      VOXHERD_UNROLL_BY(Team::partial_sums)
      for (int s = 0; s < m_.slots(); ++s) work(s);
    }
  }

  template <class Array>
  VOXHERD_FUNCTION void add_to_residual(const Array& signal, float weight) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) a_.residual[s] = lane::fma(real(weight), signal[s], a_.residual[s]);
  }

  /// 1, and 0 in the padding.
  VOXHERD_FUNCTION real unattenuated(int s) const { return lane::exp2(m_.direction(s).offset); }

  VOXHERD_FUNCTION real with_unattenuated(int s, float weight) const {
    return lane::fma(real(-weight), unattenuated(s) - a_.ball[s], a_.residual[s]);
  }

  VOXHERD_FUNCTION real scaled(int s, float factor) const {
    return lane::fma(real(factor), a_.residual[s], real(1.0f - factor) * m_.signal(s));
  }

  template <spread_range Range>
  VOXHERD_FUNCTION real attenuation_pass(const Attenuation& t, const fibre_vector (&fibre)[Fibres], const weights& w,
                                         const Noise& noise) {
    partial_sums total;
    each_slot([&](int s) {
      const auto g = m_.direction(s);
      const real ball = t.template ball<Range>(m_.weighting(s), g.offset);
      a_.trial_ball[s] = ball;
      real r = lane::fma(real(-w.ball), ball, m_.signal(s));
      if (w.unattenuated != 0.0f) r = lane::fma(real(-w.unattenuated), lane::exp2(g.offset), r);
      VOXHERD_UNROLL
      for (int k = 0; k < Fibres; ++k) {
        const real stick = t.template stick<Range>(product(g, fibre[k]), g);
        a_.trial_stick[k][s] = stick;
        r = lane::fma(real(-w.stick[k]), stick, r);
      }
      add(noise, total, r, s);
    });
    return total.value();
  }

  template <spread_range Range>
  VOXHERD_FUNCTION real direction_pass(const fibre_vector& v, float weight, const Attenuation& t, const Noise& noise) {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const auto g = m_.direction(s);
      const real stick = t.template stick<Range>(product(g, v), g);
      a_.trial_direction[s] = stick;
      add(noise, total, lane::fma(real(-weight), stick, a_.residual[s]), s);
    }
    return total.value();
  }

  VOXHERD_FUNCTION static real product(const weighted_direction<real>& g, const fibre_vector& v) {
    return lane::fma(g.x, real(v.x), lane::fma(g.y, real(v.y), g.z * real(v.z)));
  }

  const Measurements& m_;
  Arrays& a_;
};

}  // namespace voxherd::ballstick
