#pragma once

#include <array>
#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// The model's curve at every frame, on the host, in double: for parameters in 1/s and s, in the settings'
/// discretisation.
std::vector<double> model_curve(const time_course& frames, const fit_settings& settings,
                                const std::array<double, parameter_count>& parameters);

}  // namespace voxherd::perfusion
