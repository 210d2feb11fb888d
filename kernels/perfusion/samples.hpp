#pragma once

#include "kernels/portable/lanes.hpp"

/// What a model needs of a number type besides arithmetic: a double or float (one voxel), or a SIMD register (a voxel a
/// lane).
namespace voxherd::perfusion {

/// One voxel's concentrations, or those of a register's lanes side by side: frame i's are at first[i * stride].
struct voxel_samples {
  const float* first;
  int stride;
};

VOXHERD_FUNCTION inline float load(const float* from, float) { return *from; }
VOXHERD_FUNCTION inline double load(const float* from, double) { return static_cast<double>(*from); }

/// A curve's value at a whole-numbered place.
VOXHERD_FUNCTION inline float read(const float* curve, float place) { return curve[static_cast<int>(place)]; }
VOXHERD_FUNCTION inline double read(const double* curve, double place) { return curve[static_cast<int>(place)]; }

#if !defined(__CUDACC__)
using lane::double_lanes;
using lane::float_lanes;

inline float_lanes load(const float* from, float_lanes) { return {from, lane::stdx::element_aligned}; }
inline double_lanes load(const float* from, double_lanes) {
  return lane::stdx::static_simd_cast<double_lanes>(
      lane::stdx::rebind_simd_t<float, double_lanes>(from, lane::stdx::element_aligned));
}
inline float_lanes read(const float* curve, float_lanes place) {
  return float_lanes([&](auto i) { return curve[static_cast<int>(place[i])]; });
}
inline double_lanes read(const double* curve, double_lanes place) {
  return double_lanes([&](auto i) { return curve[static_cast<int>(place[i])]; });
}
#endif

}  // namespace voxherd::perfusion
