#pragma once

#include "src/analyses/track/pair_groups.hpp"

namespace voxherd {

/// The voxels of a mask (--target3) that streamlines connect with each other, or with those of another mask
/// (--target3-columns), each pair once per streamline. Collective. Throws failure.
pair_matrix make_pair_matrix(const session& s, const track_request& request, track_inputs& in);

/// Adds the steps: pairs of each group of streamlines, sorted and added up; the sums of all groups; the file.
void add_pair_steps(const session& s, const pair_matrix& matrix, const track_inputs& in, const device& d,
                    step_list& steps);

}  // namespace voxherd
