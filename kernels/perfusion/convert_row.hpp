#pragma once

#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// The concentrations of one voxel at every frame, as the fit sees them, on the host; empty if its signal cannot be
/// converted. `row`: the voxel's signals, as voxel_converter reads them. Elsewhere than in this library voxel_converter
/// must not be compiled: a linker keeps one of several copies of an inline function, and those of other flags round
/// otherwise.
std::vector<float> convert_row(const conversion& convert, const time_course& frames, const float* row);

}  // namespace voxherd::perfusion
