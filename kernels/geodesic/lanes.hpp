#pragma once

#include "kernels/portable/lanes.hpp"

/// One number per lane: a CUDA thread's ray, or the lanes of a SIMD register with one ray each.
namespace voxherd::geodesic {

using lane::any;
using lane::get;
using lane::lane_traits;
using lane::put;

}  // namespace voxherd::geodesic
