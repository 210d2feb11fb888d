#pragma once

#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Maximum number of files inflated at the same time; each needs two or three times 64 bytes per voxel.
constexpr std::size_t max_files_at_once = 8;

/// Number of voxels, of `items`, whose rows are kept in memory at once so that the rows of all series (on one grid) and
/// the inflation buffers need at most `bytes` on a node. All items if they fit; otherwise half of what fits, because
/// the next stage is loaded while the current one is computed. At least 1. Series without a compressed file need
/// nothing.
std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items);

}  // namespace voxherd
