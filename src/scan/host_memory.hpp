#pragma once

#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Files inflated side by side; each takes two or three times 64 bytes a voxel.
constexpr std::size_t most_files_at_once = 8;

/// How many of `items` voxels are kept at once, of each of some series on one grid, so that their rows and the buffers
/// of inflating take at most `bytes` on a node: all where they fit, else as many as fit two times, since the next ones
/// are brought while the ones before are computed. Series without a compressed file take nothing. At least 1.
std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items);

}  // namespace voxherd
