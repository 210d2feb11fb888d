#pragma once

#include "kernels/ballstick/noise.hpp"

namespace voxherd::ballstick {

/// A fibre's unit vector times attenuation.fibre_scale().
struct fibre_vector {
  float x, y, z;
};

/// S0 times the volume fractions.
template <int Fibres>
struct signal_weights {
  float stick[Fibres];
  float ball;
  float unattenuated;
};

/// The signals of one voxel's compartments and the residuals of their weighted sum, one measurement per lane and slot. Each `try_` leaves
/// a trial beside the current state and returns the noise model's sum over all measurements; the `keep_` of the same name makes the trial current.
/// A change of weights reuses the compartments' signals, so only diffusivities and angles cost exponentials.
template <class Team, class Measurements, class Array, class Attenuation, class Noise, int Fibres>
class voxel_signal {
  using real = typename Team::real;
  using weights = signal_weights<Fibres>;

 public:
  struct arrays {
    Array residual, ball, stick[Fibres];
    Array trial_residual, trial_ball, trial_stick[Fibres];
  };

  VOXHERD_FUNCTION voxel_signal(const Team& team, const Measurements& m, arrays& a) : team_(team), m_(m), a_(a) {}

  VOXHERD_FUNCTION float try_attenuation(const Attenuation& t, const fibre_vector (&fibre)[Fibres], const weights& w,
                                         const Noise& noise) {
    return t.narrow() ? attenuation_pass<true>(t, fibre, w, noise) : attenuation_pass<false>(t, fibre, w, noise);
  }

  VOXHERD_FUNCTION void keep_attenuation() {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      a_.residual[s] = a_.trial_residual[s];
      a_.ball[s] = a_.trial_ball[s];
      VOXHERD_UNROLL
      for (int k = 0; k < Fibres; ++k) a_.stick[k][s] = a_.trial_stick[k][s];
    }
  }

  /// A new direction of fibre k, whose weight is `weight`.
  VOXHERD_FUNCTION float try_direction(int k, const fibre_vector& v, float weight, const Attenuation& t, const Noise& noise) {
    return t.narrow() ? direction_pass<true>(k, v, weight, t, noise) : direction_pass<false>(k, v, weight, t, noise);
  }

  VOXHERD_FUNCTION void keep_direction(int k) {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      a_.residual[s] = a_.trial_residual[s];
      a_.stick[k][s] = a_.trial_stick[k][s];
    }
  }

  /// Moves `weight` from the ball to fibre k.
  VOXHERD_FUNCTION float try_fraction(int k, float weight, const Noise& noise) {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const real r = lane::fma(real(-weight), a_.stick[k][s] - a_.ball[s], a_.residual[s]);
      total = add(noise, total, r, s);
    }
    return team_.sum(total);
  }

  /// Moves `weight` from the ball to the unattenuated compartment.
  VOXHERD_FUNCTION float try_unattenuated(float weight, const Noise& noise) {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const real unattenuated = lane::exp2(m_.direction(s).offset);
      const real r = lane::fma(real(-weight), unattenuated - a_.ball[s], a_.residual[s]);
      total = add(noise, total, r, s);
    }
    return team_.sum(total);
  }

  /// Scales the predicted signal by `factor`.
  VOXHERD_FUNCTION float try_scale(float factor, const Noise& noise) {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const real r = lane::fma(real(factor), a_.residual[s], real(1.0f - factor) * m_.signal(s));
      total = add(noise, total, r, s);
    }
    return team_.sum(total);
  }

  VOXHERD_FUNCTION void keep_residual() {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) a_.residual[s] = a_.trial_residual[s];
  }

  /// The current state under another noise level.
  VOXHERD_FUNCTION float sum(const Noise& noise) const {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) total = noise.add(total, a_.residual[s], m_.signal(s));
    return team_.sum(total);
  }

 private:
  VOXHERD_FUNCTION real add(const Noise& noise, real total, real residual, int s) {
    a_.trial_residual[s] = residual;
    if constexpr (Noise::model == noise_model::gaussian) return noise.add(total, residual, residual);
    return noise.add(total, residual, m_.signal(s));
  }

  template <bool Narrow>
  VOXHERD_FUNCTION float attenuation_pass(const Attenuation& t, const fibre_vector (&fibre)[Fibres], const weights& w,
                                          const Noise& noise) {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const auto g = m_.direction(s);
      const real ball = t.template ball<Narrow>(m_.weighting(s), g.offset);
      a_.trial_ball[s] = ball;
      real r = lane::fma(real(-w.ball), ball, m_.signal(s));
      if (w.unattenuated != 0.0f) r = lane::fma(real(-w.unattenuated), lane::exp2(g.offset), r);
      VOXHERD_UNROLL
      for (int k = 0; k < Fibres; ++k) {
        const real stick = t.template stick<Narrow>(product(g, fibre[k]), g);
        a_.trial_stick[k][s] = stick;
        r = lane::fma(real(-w.stick[k]), stick, r);
      }
      total = add(noise, total, r, s);
    }
    return team_.sum(total);
  }

  template <bool Narrow>
  VOXHERD_FUNCTION float direction_pass(int k, const fibre_vector& v, float weight, const Attenuation& t,
                                        const Noise& noise) {
    real total = 0.0f;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const auto g = m_.direction(s);
      const real stick = t.template stick<Narrow>(product(g, v), g);
      a_.trial_stick[k][s] = stick;
      const real r = lane::fma(real(-weight), stick - a_.stick[k][s], a_.residual[s]);
      total = add(noise, total, r, s);
    }
    return team_.sum(total);
  }

  VOXHERD_FUNCTION static real product(const weighted_direction<real>& g, const fibre_vector& v) {
    return lane::fma(g.x, real(v.x), lane::fma(g.y, real(v.y), g.z * real(v.z)));
  }

  const Team& team_;
  const Measurements& m_;
  arrays& a_;
};

}  // namespace voxherd::ballstick
