#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// A map of what a voxel's gradients are instead of their nominal values g: (I + L) g. Its volumes are L column by
/// column, as HCP and FSL store it, or I + L in the same order, as TORTOISE does and with it QSIPrep. (QSIPrep's
/// documents say row by row. TORTOISE's CreateGradientNonlinearityBMatrix, which writes the file, transposes I + L
/// "to HCP format ordering".)
enum class deviation_form { without_identity, with_identity };

constexpr std::uint64_t deviation_volumes = 9;  ///< a 3 x 3 matrix per voxel

/// Which form a map has by its diagonal in these voxels: about 0 or about 1. Throws failure (bad_data) if it is
/// neither.
deviation_form find_deviation_form(const nifti_header& map, const std::vector<std::uint64_t>& voxels);

/// How provenance and pages name the form.
const char* deviation_form_name(deviation_form form);

/// The form of a result's input.
deviation_form stored_deviation_form(const nlohmann::json& input);

/// Changes one voxel's matrix from `form` to L.
inline void subtract_identity(deviation_form form, float* matrix) {
  if (form == deviation_form::without_identity) return;
  for (const int diagonal : {0, 4, 8}) matrix[diagonal] -= 1;
}

}  // namespace voxherd
