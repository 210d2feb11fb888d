#pragma once

#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Numbers the voxels with samples, then those within reach of them, where a streamline that leaves may end.
void number_places(const track_request& request, track_inputs& in);

/// The places of a separate space: the voxels of its image that a streamline can reach. After number_places(). Throws
/// failure.
void move_places(track_inputs& in);

}  // namespace voxherd
