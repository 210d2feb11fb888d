#pragma once

#include <string>
#include <vector>

#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Masks that are looked up by place, in the files of --walk-through-stop and --targets. On one process. Throws
/// failure.
void read_exit_masks(const std::vector<std::string>& paths, const image_grid& grid, track_inputs& in);
void read_targets(const std::vector<std::string>& paths, const image_grid& grid, track_inputs& in);

}  // namespace voxherd
