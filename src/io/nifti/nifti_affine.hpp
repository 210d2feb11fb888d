#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/io/nifti/nifti_fields.hpp"

namespace voxherd {

/// Sets voxel_to_world and voxel_size_mm, in mm, from sform, else qform, else voxel sizes (NIfTI methods 3, 2, 1).
/// `grid.size` must be set. Appends tolerable irregularities to `warnings`. Throws failure (bad_data) if the matrix is
/// singular or not finite.
void place_grid(const nifti_fields& fields, const std::string& name, image_grid& grid,
                std::vector<std::string>& warnings);

/// Returns nifti_header::geometry.
nlohmann::json copied_geometry(const nifti_fields& fields);

}  // namespace voxherd
