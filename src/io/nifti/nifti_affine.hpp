#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/io/nifti/nifti_fields.hpp"

namespace voxherd {

/// Fills voxel_to_world and voxel_size_mm from sform, else qform, else voxel sizes (NIfTI's methods 3, 2, 1), in mm
/// whatever unit the header states. `grid.size` must be set. Throws failure (bad_data) for a matrix that places no
/// image: not finite, singular; oddities that can be lived with go to `warnings`.
void place_grid(const nifti_fields& fields, const std::string& name, image_grid& grid,
                std::vector<std::string>& warnings);

/// nifti_header::geometry.
nlohmann::json geometry_of(const nifti_fields& fields);

}  // namespace voxherd
