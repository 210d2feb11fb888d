#pragma once

#include <string>
#include <vector>

#include "kernels/track/tracker.hpp"

namespace voxherd {

/// Why no streamline counts: how many of some of them, drawn again in host memory, meet each mask.
std::string describe_met_masks(const track::track_input& view, const std::vector<std::string>& include_names,
                               int threads);

}  // namespace voxherd
