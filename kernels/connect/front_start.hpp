#pragma once

#include <span>
#include <vector>

namespace voxherd::connect {

struct lattice;
struct start_list;

/// The end of a front's paths. For a front that started at a point, this is the point, and paths within `radius` of it
/// are straight. Paths of other fronts end where no neighbour is nearer to the source; `latest` distinguishes such
/// voxels from those where a path is stuck.
struct front_start {
  float point[3];  ///< index coordinates
  float radius;    ///< voxels; below 0: the front did not start at a point
  float latest;    ///< latest arrival time among the starts
};

/// Detects the fronts that started at a point (one voxel, or the exact arrival times of starts_at_point()) and computes
/// the point, which a start list does not contain.
std::vector<front_start> find_front_starts(const lattice& l, const start_list& fronts);

}  // namespace voxherd::connect
