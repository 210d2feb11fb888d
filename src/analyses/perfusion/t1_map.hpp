#pragma once

#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// By rank 0: throws failure (bad_data) if the map has no T1 above 0 in the mask, or if its median is not a time in
/// seconds. Logs how many voxels have none.
void check_t1_map(const nifti_header& map, double unit_s, const std::vector<std::uint64_t>& mask);

}  // namespace voxherd
