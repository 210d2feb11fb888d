#pragma once

#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Fills inside, voxels, labels, regions and names from the files in the options; by one process. `tensors` tells
/// which voxels have a tensor. Adds fingerprints to the provenance. Throws failure (missing_input, bad_data): an
/// invalid file, an end without a voxel where fronts may pass, ends that share voxels, no region with a voxel.
void read_connect_regions(const tensor_source& tensors, connect_inputs& in);

/// The parts of it for callers that choose ends themselves. Where fronts may pass: inside and voxels.
void find_passable_voxels(const tensor_source& tensors, connect_inputs& in);
/// The image's voxels of an end: the region or the point of in.options.from or to. Throws as above.
enum class end_side { from, to };
std::vector<std::uint64_t> read_end(end_side side, connect_inputs& in);
/// Makes these the two ends, instead of earlier ones. Throws as above.
void set_ends(const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& to, connect_inputs& in);

}  // namespace voxherd
