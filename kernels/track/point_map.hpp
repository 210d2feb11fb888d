#pragma once

#include "kernels/portable/lane_math.hpp"

namespace voxherd::track {

/// An affine map from voxels of one image to voxels of another.
struct point_map {
  float rows[3][4] = {};

  VOXHERD_FUNCTION float coordinate(const float (&p)[3], int d) const {
    const float* m = rows[d];
    return lane::fma(m[0], p[0], lane::fma(m[1], p[1], lane::fma(m[2], p[2], m[3])));
  }
};

}  // namespace voxherd::track
