#pragma once

#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// The concentrations of one voxel at every frame, as the fit sees them, on the host; empty if its signal cannot be
/// converted. `row`: the voxel's signals, as voxel_converter reads them. Do not use voxel_converter outside this
/// library: the linker keeps one of several copies of an inline function, and a copy compiled with other flags rounds
/// differently.
std::vector<float> convert_row(const conversion& convert, const time_course& frames, const float* row);

/// The model's curve at every frame, on the host, in double: of the settings' model in their
/// discretisation, for parameters in 1/s and s.
std::vector<double> model_curve(const time_course& frames, const fit_settings& settings,
                                const std::vector<double>& parameters);

}  // namespace voxherd::perfusion
