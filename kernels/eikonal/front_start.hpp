#pragma once

namespace voxherd::eikonal {

/// Where the paths of a front end. At a point's front that is the point, and from within `radius` of it the way there
/// is straight; any other front's paths end where no neighbour is nearer to the source, which `latest` tells from
/// places where a path is stuck. Found by find_front_start().
struct front_start {
  float point[3];  ///< index coordinates
  float radius;    ///< voxels; below 0: the front did not start at a point
  float latest;    ///< latest arrival time of those that it started with
};

}  // namespace voxherd::eikonal
