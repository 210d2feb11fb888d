#pragma once

namespace voxherd {

/// What counts as a mask of an image. voxherd's own commands refuse what is probably a mistake. FSL's programs do not,
/// and pipelines rely on it: they fit each slice of a brain, or warp masks to scans that do not reach them.
enum class mask_rules {
  own,  ///< at least one voxel is inside; the mask is at the image's place in the world and has
        ///< one volume
  fsl,  ///< there may be no voxel inside: then nothing is fitted, started, reached or left out; the mask may be
        ///< anywhere; of several volumes the first one counts
};

}  // namespace voxherd
