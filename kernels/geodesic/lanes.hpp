#pragma once

#include "kernels/portable/lanes.hpp"

/// A number a lane: a CUDA thread's ray, or the lanes of a SIMD register, each with a ray of its own.
namespace voxherd::geodesic {

using lane::any;
using lane::get;
using lane::lane_traits;
using lane::put;

}  // namespace voxherd::geodesic
