#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/portable/gradients.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// spdlog::warn for each of the header's warnings.
void log_warnings(const nifti_header& header);

/// Throws failure (bad_data) unless `header` lies on the image's grid; another place in the world is a warning.
void check_same_grid(const nifti_header& header, const nifti_header& image);

/// Linear indices of the voxels whose mask value is above 0, increasing; NaN and infinity count as outside, with a
/// warning. Throws failure (missing_input, bad_data): more than one volume, another grid size, empty.
std::vector<std::uint64_t> voxels_inside(const std::string& mask, const nifti_header& image);

/// Without a mask: voxels whose mean over the volumes with b up to largest_b0_s_per_mm2 is positive; said in the log.
/// Throws failure (bad_data) when there is none.
std::vector<std::uint64_t> voxels_with_b0_signal(const nifti_header& image, const gradient_table& gradients);

}  // namespace voxherd
