#pragma once

#include "core/command.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// The value of --metric: inverse, adjugate, power or jeong. Throws failure (usage).
geodesic::metric_kind read_metric(const arguments& args);

/// The value of --alpha, 0.1 to 10, `standard` where it was not given. Throws failure (usage), also when it was given
/// for a metric without one.
double read_alpha(const arguments& args, geodesic::metric_kind metric, double standard);

}  // namespace voxherd
