#pragma once

#include "kernels/portable/exponential.hpp"
#include "kernels/voxel_model/model.hpp"

namespace voxherd {

/// Mean diffusivity and kurtosis (Jensen 2005): S = S0 exp(-b D + b^2 D^2 K / 6), up to about b = 3 / (D K).
struct kurtosis_model {
  static constexpr voxel_model::parameter parameters[] = {
      {.name = "D",
       .unit = "mm2/s",
       .meaning = "mean diffusivity",
       .low = 1e-5,
       .high = 4e-3,
       .starts = {4e-4, 2.8e-3, 4},
       .first_step = 1e-4},
      {.name = "K",
       .unit = "1",
       .meaning = "mean kurtosis",
       .low = -1,
       .high = 4,
       .starts = {0, 1.5, 3},
       .first_step = 0.2},
  };

  template <class Real, class Number>
  VOXHERD_FUNCTION Real attenuation(const voxel_model::gradient<Real>& g, const Number (&p)[2], Real (&by)[2]) const {
    const Number d = p[0], k = p[1];
    const Real b = g.b_s_per_mm2, bd = b * d;
    const Real a = lane::exp(bd * (bd * (k / 6) - 1));
    by[0] = b * (bd * (k / 3) - 1) * a;
    by[1] = bd * bd * a / 6;
    return a;
  }
};

}  // namespace voxherd
