#pragma once

#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/noise_model.hpp"

namespace voxherd::voxel_model {

constexpr float log2_e = 1.442695041f;
constexpr float ln_2 = 0.6931471806f;

/// Gaussian noise with its standard deviation integrated out: energy (K/2) log(sum of squared residuals / 2).
/// Energies are in units of ln 2: the hardware's logarithm has base two.
struct gaussian_noise {
  static constexpr noise_model model = noise_model::gaussian;
  float half_count;  ///< K/2
  float sum = 0;
  float inverse = 0;  ///< 1/sum

  VOXHERD_FUNCTION gaussian_noise(int count, float /*tau*/) : half_count(0.5f * static_cast<float>(count)) {}

  template <class Real>
  VOXHERD_FUNCTION Real add(Real total, Real residual, Real /*signal*/) const {
    return lane::fma(residual, residual, total);
  }
  template <class Team>
  VOXHERD_FUNCTION void start(const Team& team, typename Team::real lane_sum) {
    set(team.sum(lane_sum));
  }
  /// A trial's sum as a multiple of the current one.
  template <class Team>
  VOXHERD_FUNCTION float measure(const Team& team, typename Team::real lane_sum) const {
    return team.scaled_sum(lane_sum, inverse);
  }
  VOXHERD_FUNCTION float change(float trial) const { return half_count * lane::log2(trial); }
  VOXHERD_FUNCTION void accept(float trial) { set(trial * sum); }

 private:
  VOXHERD_FUNCTION void set(float new_sum) {
    sum = lane::max(new_sum, 1e-30f);  // data without noise
    inverse = lane::reciprocal(sum);
  }
};

/// log(I0(x) exp(-x)) for x >= 0 by Abramowitz & Stegun 9.8.1 and 9.8.2, relative error of I0 2e-7.
template <class Real>
VOXHERD_FUNCTION inline Real log_scaled_bessel_i0(Real x) {
  const Real s = lane::min(x, Real(3.75f)) * Real(1.0f / 3.75f);
  const Real w = s * s;
  Real small = Real(0.0045813f);
  small = lane::fma(small, w, Real(0.0360768f));
  small = lane::fma(small, w, Real(0.2659732f));
  small = lane::fma(small, w, Real(1.2067492f));
  small = lane::fma(small, w, Real(3.0899424f));
  small = lane::fma(small, w, Real(3.5156229f));
  small = lane::fma(small, w, Real(1.0f));
  const Real safe = lane::max(x, Real(3.75f));
  const Real inverse = lane::reciprocal(safe);
  const Real t = Real(3.75f) * inverse;
  Real large = Real(0.00392377f);
  large = lane::fma(large, t, Real(-0.01647633f));
  large = lane::fma(large, t, Real(0.02635537f));
  large = lane::fma(large, t, Real(-0.02057706f));
  large = lane::fma(large, t, Real(0.00916281f));
  large = lane::fma(large, t, Real(-0.00157565f));
  large = lane::fma(large, t, Real(0.00225319f));
  large = lane::fma(large, t, Real(0.01328592f));
  large = lane::fma(large, t, Real(0.39894228f));
  const auto is_large = x > Real(3.75f);
  const Real argument = lane::select(is_large, large * large * inverse, small * small);
  const Real decay = lane::select(is_large, Real(0.0f), x);
  return lane::fma(Real(0.5f * ln_2), lane::log2(argument), -decay);
}

/// Rician noise, tau = 1/sigma^2 sampled. Up to terms that do not change, a measurement's energy is
/// tau/2 (y - S)^2 - log(I0(tau y S) exp(-tau y S)): the two large terms of the textbook form cancel analytically.
struct rician_noise {
  static constexpr noise_model model = noise_model::rician;
  float count;
  float tau;
  double sum = 0;  ///< a few units per measurement: its changes, of order 1, are close to its rounding in float

  VOXHERD_FUNCTION rician_noise(int count_, float tau_) : count(static_cast<float>(count_)), tau(tau_) {}

  template <class Real>
  VOXHERD_FUNCTION Real add(Real total, Real residual, Real signal) const {
    const Real predicted = lane::max(signal - residual, Real(0.0f));
    return lane::fma(Real(0.5f * tau) * residual, residual, total) -
           log_scaled_bessel_i0(Real(tau) * signal * predicted);
  }
  template <class Team>
  VOXHERD_FUNCTION void start(const Team& team, typename Team::real lane_sum) {
    sum = team.precise_sum(lane_sum);
  }
  /// A trial's sum.
  template <class Team>
  VOXHERD_FUNCTION double measure(const Team& team, typename Team::real lane_sum) const {
    return team.precise_sum(lane_sum);
  }
  VOXHERD_FUNCTION float change(double trial) const { return static_cast<float>(trial - sum) * log2_e; }
  VOXHERD_FUNCTION void accept(double trial) { sum = trial; }
};

}  // namespace voxherd::voxel_model
