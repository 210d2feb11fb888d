#pragma once

#include <vector>

#include "src/analyses/connect/pathway.hpp"

namespace voxherd {

/// For each voxel the smallest limit of the excess at which it is in the pathway: in a part of the voxels up to that
/// excess that touches both regions; infinite for none. So `level[v] <= (1 + epsilon) * (1 + joining_excess) - 1` is
/// find_pathway()'s `inside` for every epsilon up to `largest_epsilon`, and a pathway can be shown for another epsilon
/// without computing it again.
std::vector<float> joining_levels(const pathway& p, const connect::region_list& regions, const voxel_neighbours& space,
                                  double largest_epsilon);

}  // namespace voxherd
