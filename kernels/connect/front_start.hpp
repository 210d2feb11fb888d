#pragma once

#include <span>
#include <vector>

namespace voxherd::connect {

struct lattice;
struct start_list;

/// Where the paths of a front end. At a point's front that is the point, and from within `radius` of it the way there
/// is straight; any other front's paths end where no neighbour is nearer to the source, which `latest` tells from
/// places where a path is stuck.
struct front_start {
  float point[3];  ///< index coordinates
  float radius;    ///< voxels; below 0: the front did not start at a point
  float latest;    ///< latest arrival time of those that it started with
};

/// Tells fronts that started at a point (one voxel, or the exact arrival times around a point that starts_at_point()
/// gives) from all others, and where the point is: a start list does not say.
std::vector<front_start> find_front_starts(const lattice& l, const start_list& fronts);

}  // namespace voxherd::connect
