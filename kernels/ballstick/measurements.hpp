#pragma once

#include <cstddef>
#include <vector>

#include "kernels/ballstick/attenuation.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/voxel_preparer.hpp"

namespace voxherd::ballstick {

using voxel_model::voxel_preparer;

/// All voxels' weighted directions (attenuation.hpp), padded to a multiple of the slots.
struct weighting_table {
  std::vector<float> x, y, z, offset;
  std::vector<float> weighting;  ///< b log2(e)
  float max_weighting = 0;
};

inline weighting_table make_weighting_table(const gradient_table& g, std::size_t padded_count) {
  weighting_table t;
  for (auto* column : {&t.x, &t.y, &t.z, &t.weighting}) column->assign(padded_count, 0.0f);
  t.offset.assign(padded_count, -200.0f);
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double weighting = g.b_s_per_mm2[i] * 1.4426950408889634;
    const double root = std::sqrt(weighting);
    t.x[i] = static_cast<float>(g.x[i] * root);
    t.y[i] = static_cast<float>(g.y[i] * root);
    t.z[i] = static_cast<float>(g.z[i] * root);
    t.offset[i] = 0.0f;
    t.weighting[i] = static_cast<float>(weighting);
    t.max_weighting = std::max(t.max_weighting, t.weighting[i]);
  }
  return t;
}

/// Gradient non-linearity (HCP): a voxel's true weighted direction is (I + L) times the nominal one; its length
/// includes b. `deviation`: FSL's grad_dev order, L column by column.
template <class Real>
VOXHERD_FUNCTION inline void deviate(weighted_direction<Real>& g, Real& weighting, const float* deviation) {
  const Real x =
      lane::fma(Real(deviation[0]), g.x, lane::fma(Real(deviation[3]), g.y, lane::fma(Real(deviation[6]), g.z, g.x)));
  const Real y =
      lane::fma(Real(deviation[1]), g.x, lane::fma(Real(deviation[4]), g.y, lane::fma(Real(deviation[7]), g.z, g.y)));
  const Real z =
      lane::fma(Real(deviation[2]), g.x, lane::fma(Real(deviation[5]), g.y, lane::fma(Real(deviation[8]), g.z, g.z)));
  g.x = x;
  g.y = y;
  g.z = z;
  weighting = lane::fma(x, x, lane::fma(y, y, z * z));
}

}  // namespace voxherd::ballstick
