#pragma once

#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/mask_reader.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/surface_seeds.hpp"

namespace voxherd {

/// Masks that must not be left, targets, and surfaces whose vertices are columns of a matrix. The surfaces of all masks
/// are added later, by surface_reader::finish(). In one process, with the files of with_mask_files(). Throws failure.
track_masks read_counted_masks(const track_request& request, const found_seeds& seeds, mask_reader& masks);

}  // namespace voxherd
