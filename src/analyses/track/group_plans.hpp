#pragma once

#include <cstdint>

#include "kernels/track/tracker.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Cuts streamlines into groups of at least 2^16, for at most 1024 rows of counts of `row_bytes` each, or 1 GB of them.
/// `whole_seeds`: no group has only a part of a seed's streamlines, unless these are more than 2^24. `pairs`: at most
/// 256 groups, since each has a list of pairs, many of which are in every list. Depends on the inputs only.
track::group_plan make_group_plan(std::uint64_t seeds, std::uint64_t per_seed, std::uint64_t row_bytes,
                                  bool whole_seeds = false, bool pairs = false);

/// Numbers the seeds, groups and streamlines of all draws, and counts those of the tracts. `whole_seeds`, `pairs`: as
/// in make_group_plan().
void number_draws(bool whole_seeds, bool pairs, track_inputs& in);

}  // namespace voxherd
