#pragma once

#include <span>

namespace voxherd {

/// Adds whole turns to a voxel's samples of an angle (rad), which a chain knows only up to these, so that each is
/// within half a turn of their mean. Then means and deviations over samples are those of the angle, as of a chain that
/// never wraps it, also where the samples are on both sides of pi and -pi.
void make_continuous(std::span<float> samples);

}  // namespace voxherd
