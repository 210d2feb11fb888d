#pragma once

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/lane_math.hpp"

/// lane::exp for all numbers of a model: double (double_math.hpp) and float.
namespace voxherd::lane {

/// e^x; 0 below -87, e^87 above.
VOXHERD_FUNCTION inline float exp(float x) { return exp2(1.4426950409f * (x < 87.0f ? x : 87.0f)); }

#if !defined(__CUDACC__)
inline float_lanes exp(float_lanes x) { return exp2(1.4426950409f * min(x, float_lanes(87.0f))); }
#endif

}  // namespace voxherd::lane
