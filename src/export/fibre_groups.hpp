#pragma once

#include <vector>

#include "src/io/tracts/tracts.hpp"

namespace voxherd {

/// One group "A-B" per pair of regions (labels, the smaller first) that fibres join, sorted, with the mean of each
/// fibre array of one real number. A streamline of `track` may join its region to two others. None for fibres without
/// regions.
std::vector<fibre_group> group_by_regions(const fibre_source& source);

}  // namespace voxherd
