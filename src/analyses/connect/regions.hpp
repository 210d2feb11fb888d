#pragma once

#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Fills inside, voxels, labels, regions, names from the files that the options name; by one process. `tensors` is what
/// tensors are where. Fingerprints go to the provenance. Throws failure (missing_input, bad_data): what is wrong with a
/// file, an end without a voxel where fronts may pass, ends that share voxels, no region with a voxel.
void read_connect_regions(const tensor_source& tensors, connect_inputs& in);

}  // namespace voxherd
