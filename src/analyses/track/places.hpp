#pragma once

#include <string>

#include "src/analyses/track/inputs.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// Numbers the voxels with samples, then those within reach of them, where a streamline that leaves may end.
void number_places(const track_request& request, track_inputs& in);

/// The places of a separate space: the voxels of its image that a streamline can reach. After number_places(). Throws
/// failure.
void move_places(const track_request& request, track_inputs& in);

/// Masks that are looked up by place, in the files of --walk-through-stop and --targets. On one process. Throws
/// failure.
void read_exit_masks(const track_request& request, track_inputs& in);
void read_targets(const track_request& request, track_inputs& in);

}  // namespace voxherd
