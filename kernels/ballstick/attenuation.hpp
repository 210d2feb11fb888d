#pragma once

#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/noise.hpp"

namespace voxherd::ballstick {

using voxel_model::log2_e;

/// One measurement's weighting as the kernels store it. With b in s/mm2 and unit direction g:
/// (x, y, z) = g sqrt(b log2 e), so that the square of its product with a fibre direction is b cos^2 log2 e.
/// `offset` is 0, and -200 for the padding after the last measurement: exp2(offset - ...) is then 0.
template <class Real>
struct weighted_direction {
  Real x, y, z, offset;
};

/// Range of z = b d_std^2/d over a voxel's measurements, which decides how (1 + z)^-(d/d_std)^2 is best computed: for
/// small z as exp(-b d log(1+z)/z) with a short series, since 1 + z would lose z; for larger z directly.
enum class spread_range { tiny, narrow, wide };
constexpr float largest_tiny_spread = 0.01f;
constexpr float largest_narrow_spread = 0.25f;

/// log(1 + z) / z for z in [0, 0.01] or [0, 0.25], relative error 3e-7.
template <spread_range Range, class Real>
VOXHERD_FUNCTION inline Real log1p_ratio(Real z) {
  static_assert(Range != spread_range::wide);
  if constexpr (Range == spread_range::tiny)
    return lane::fma(lane::fma(z, Real(1.0f / 3.0f), Real(-0.5f)), z, Real(1.0f));
  // minimax polynomial
  Real p = Real(0.123939557f);
  p = lane::fma(p, z, Real(-0.235129424f));
  p = lane::fma(p, z, Real(0.332076877f));
  p = lane::fma(p, z, Real(-0.499961952f));
  return lane::fma(p, z, Real(0.999999813f));
}

/// Model 1: exp(-b d) and exp(-b d cos^2). The diffusivity is part of the fibre's vector, which saves a product per
/// measurement.
struct mono_exponential {
  static constexpr diffusion_model model = diffusion_model::mono_exponential;
  float d;
  float root_d;

  VOXHERD_FUNCTION mono_exponential(float d_mm2_per_s, float, float, float)
      : d(d_mm2_per_s), root_d(lane::sqrt(d_mm2_per_s)) {}

  VOXHERD_FUNCTION float fibre_scale() const { return root_d; }
  VOXHERD_FUNCTION spread_range range() const { return spread_range::tiny; }

  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real ball(Real b, Real offset) const {
    return lane::exp2(lane::fma(Real(-d), b, offset));
  }
  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real stick(Real product, const weighted_direction<Real>& g) const {
    return lane::exp2(lane::fma(-product, product, g.offset));
  }
};

/// Model 2 (Jbabdi 2012): (1 + b d_std^2/d)^-(d/d_std)^2 = exp(-b d log1p(z)/z) with z = b d_std^2/d.
/// The quotient keeps single precision for d_std -> 0, where the power would lose all digits.
struct gamma_distributed {
  static constexpr diffusion_model model = diffusion_model::gamma;
  float d;
  float spread;  ///< d_std^2 / d / log2(e): times a weighting, z
  float shape;   ///< (d / d_std)^2
  float max_weighting;

  VOXHERD_FUNCTION gamma_distributed(float d_mm2_per_s, float d_std, float, float max_weighting_)
      : d(d_mm2_per_s),
        spread(d_std * d_std / (d_mm2_per_s * log2_e)),
        shape(d_mm2_per_s * d_mm2_per_s / (d_std * d_std)),
        max_weighting(max_weighting_) {}

  VOXHERD_FUNCTION float fibre_scale() const { return 1.0f; }
  VOXHERD_FUNCTION spread_range range() const {
    const float largest = spread * max_weighting;
    return largest <= largest_tiny_spread     ? spread_range::tiny
           : largest <= largest_narrow_spread ? spread_range::narrow
                                              : spread_range::wide;
  }

  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real ball(Real b, Real offset) const {
    if constexpr (Range == spread_range::wide)
      return lane::exp2(lane::fma(Real(-shape), lane::log2(lane::fma(Real(spread), b, Real(1.0f))), offset));
    else
      return lane::exp2(lane::fma(Real(-d) * b, log1p_ratio<Range>(Real(spread) * b), offset));
  }
  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real stick(Real product, const weighted_direction<Real>& g) const {
    return ball<Range>(product * product, g.offset);
  }
};

/// Model 3: ball as in model 2, exp(-3 b d ((1-R) cos^2 + R) / (2R+1)) for a fibre.
struct zeppelin {
  static constexpr diffusion_model model = diffusion_model::zeppelin;
  gamma_distributed isotropic;
  float across;  ///< perpendicular diffusivity
  float excess;  ///< parallel minus perpendicular

  VOXHERD_FUNCTION zeppelin(float d_mm2_per_s, float d_std, float ratio, float max_weighting)
      : isotropic(d_mm2_per_s, d_std, ratio, max_weighting),
        across(3.0f * d_mm2_per_s / (2.0f * ratio + 1.0f) * ratio),
        excess(3.0f * d_mm2_per_s / (2.0f * ratio + 1.0f) * (1.0f - ratio)) {}

  VOXHERD_FUNCTION float fibre_scale() const { return 1.0f; }
  VOXHERD_FUNCTION spread_range range() const { return isotropic.range(); }

  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real ball(Real b, Real offset) const {
    return isotropic.ball<Range>(b, offset);
  }
  template <spread_range Range, class Real>
  VOXHERD_FUNCTION Real stick(Real product, const weighted_direction<Real>& g) const {
    const Real weighting = lane::fma(g.x, g.x, lane::fma(g.y, g.y, g.z * g.z));
    const Real exponent = lane::fma(Real(-across), weighting, g.offset);
    return lane::exp2(lane::fma(Real(-excess) * product, product, exponent));
  }
};

}  // namespace voxherd::ballstick
