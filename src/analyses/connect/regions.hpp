#pragma once

#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Fills inside, voxels, labels, regions and names from the files in the options; by one process. `tensors` tells
/// which voxels have a tensor. Adds fingerprints to the provenance. Throws failure (missing_input, bad_data): an
/// invalid file, an end without a voxel where fronts may pass, ends that share voxels, no region with a voxel.
void read_connect_regions(const tensor_source& tensors, connect_inputs& in);

}  // namespace voxherd
