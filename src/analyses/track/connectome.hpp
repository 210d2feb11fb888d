#pragma once

#include <vector>

#include "core/analysis.hpp"
#include "kernels/track/tracker.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// What is counted between two regions, relative to all that either has: (c_ij + c_ji) / sqrt(s_i s_j), with the sums
/// s_i of c_ik + c_ki over all other regions k. `count`: (region, region). 0 where a region has none.
constant make_share(const constant& count);

/// Adds /connectome of streamlines that pass two regions, from the sums of pairs of regions: count, share,
/// mean_length_mm. Their matrices are symmetric. `accepted`: number of streamlines; warns if none of them joins
/// regions.
void add_region_matrices(const std::vector<track::pair_entry>& pairs, std::uint64_t accepted, const track_inputs& in,
                         std::vector<constant>& all);

}  // namespace voxherd
