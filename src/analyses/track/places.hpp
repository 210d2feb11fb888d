#pragma once

#include <nlohmann/json.hpp>

#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/options.hpp"

namespace voxherd {

struct found_places {
  track_places places;
  inverse_error warp_error;                              ///< of the space's warps, at voxels with samples
  nlohmann::json provenance = nlohmann::json::object();  ///< the mask, if it is not among the samples
};

/// Where streamlines of a request can be: the voxels with samples inside --mask, and those within reach of them, where
/// a streamline that leaves may end; in a separate space the voxels of its image. In one process. Throws failure.
found_places find_places(const track_request& request, const sample_contents& samples, const track_space& space);

/// Throws failure (bad_data) if an image has more voxels than the tracker can number.
void refuse_large_image(const image_grid& grid);

}  // namespace voxherd
