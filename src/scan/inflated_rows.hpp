#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// Starts inflating files of which some are .nii.gz. The first rank of each node reads them once per stage of at most
/// `max_items` voxels into memory shared by the node's ranks. The first stage starts immediately. `voxels` must outlive
/// the result. Collective over all ranks. Throws failure (disk), the same on every rank.
std::unique_ptr<voxel_rows> start_inflating(const session& s, const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, std::uint64_t max_items);

}  // namespace voxherd
