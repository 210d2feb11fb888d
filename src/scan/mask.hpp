#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// Linear indices in the image of the voxels whose mask value is above 0, increasing. NaN and infinity are outside,
/// with a warning. Throws failure (missing_input, bad_data): several volumes, another grid, an empty mask, as far as
/// the rules refuse them.
std::vector<std::uint64_t> voxels_inside(const std::string& mask, const nifti_header& image,
                                         mask_rules rules = mask_rules::own);

/// The same in two steps, for a mask whose values are also labels.
std::vector<float> read_mask_values(const std::string& mask, const nifti_header& image,
                                    mask_rules rules = mask_rules::own);
std::vector<std::uint64_t> voxels_above_0(const std::string& mask, const std::vector<float>& values,
                                          mask_rules rules = mask_rules::own);

/// The default mask: voxels whose mean over the volumes with b up to a limit is positive; logged. Throws
/// failure (bad_data) if there are none.
std::vector<std::uint64_t> voxels_with_b0_signal(const nifti_header& image, const gradient_table& gradients,
                                                 double limit_s_per_mm2);

}  // namespace voxherd
