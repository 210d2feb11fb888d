#pragma once

#include <cmath>

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/function.hpp"

/// What the update rules of kernels/connect need beyond double_math.hpp to be computed in double. They call these
/// functions by qualified names, so the overloads must be declared before the rules.
namespace voxherd::lane {

VOXHERD_FUNCTION inline double fma(double a, double b, double c) { return ::fma(a, b, c); }
VOXHERD_FUNCTION inline double reciprocal(double x) { return 1 / x; }

}  // namespace voxherd::lane
