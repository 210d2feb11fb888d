#pragma once

#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/double_math.hpp"
#include "kernels/portable/function.hpp"

/// Attenuations and their derivatives, in double, for the least-squares fit. Units: b in ms/um2, diffusivities in
/// um2/ms, which keeps all numbers near 1.
namespace voxherd::ballstick::fitting {

/// Mean of exp(-x D) and its derivatives by the mean d, the scale s = d_std^2 / d, and x.
template <class Real>
struct attenuation {
  Real value, by_d, by_scale, by_x;
};

template <class Real>
VOXHERD_FUNCTION inline attenuation<Real> mono_exponential_attenuation(Real x, double d) {
  const Real value = lane::exp(-x * Real(d));
  return {value, -x * value, Real(0.0), Real(-d) * value};
}

/// Gamma-distributed D (Jbabdi 2012): (1 + s x)^(-d/s). With y = s x: its logarithm is -d x log1p(y)/y, and the
/// derivative of that by s is d x^2 (log1p(y)/y - 1/(1+y))/y, both finite for y -> 0.
template <class Real>
VOXHERD_FUNCTION inline attenuation<Real> gamma_attenuation(Real x, double d, double scale) {
  const Real y = x * Real(scale);
  const auto tiny = y < Real(1e-5);
  const Real safe = lane::select(tiny, Real(1.0), y);
  const Real inverse = Real(1.0) / (Real(1.0) + y);
  const Real ratio = lane::select(tiny, Real(1.0) - y * Real(0.5), lane::log1p(safe) / safe);
  const Real slope = lane::select(tiny, Real(0.5) - y * Real(2.0 / 3), (ratio - inverse) / safe);
  const Real value = lane::exp(-x * ratio * Real(d));
  return {value, -x * ratio * value, x * x * slope * value * Real(d), Real(-d) * inverse * value};
}

/// Zeppelin: exp(-3 d ((1-R) x + R b) / (2R+1)).
template <class Real>
VOXHERD_FUNCTION inline attenuation<Real> zeppelin_attenuation(Real x, Real b, double d, double ratio) {
  const double along = 3 * (1 - ratio) / (2 * ratio + 1), everywhere = 3 * ratio / (2 * ratio + 1);
  const Real exponent = Real(along) * x + Real(everywhere) * b;
  const Real value = lane::exp(-exponent * Real(d));
  return {value, -exponent * value, Real(0.0), Real(-d * along) * value};
}

template <diffusion_model Model, class Real>
VOXHERD_FUNCTION inline attenuation<Real> ball_attenuation(Real b, double d, double scale) {
  if constexpr (Model == diffusion_model::mono_exponential) return mono_exponential_attenuation(b, d);
  return gamma_attenuation(b, d, scale);
}

/// `x` = b cos^2 of the angle between gradient and fibre.
template <diffusion_model Model, class Real>
VOXHERD_FUNCTION inline attenuation<Real> stick_attenuation(Real x, Real b, double d, double scale, double ratio) {
  if constexpr (Model == diffusion_model::mono_exponential) return mono_exponential_attenuation(x, d);
  if constexpr (Model == diffusion_model::gamma) return gamma_attenuation(x, d, scale);
  return zeppelin_attenuation(x, b, d, ratio);
}

}  // namespace voxherd::ballstick::fitting
