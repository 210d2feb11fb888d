#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/export/matrix_places.hpp"
#include "src/io/cifti/cifti.hpp"

namespace voxherd {

/// The rows or the columns of an exported matrix.
struct matrix_axis {
  cifti_axis axis;
  std::vector<std::uint32_t> position;  ///< of each place of the matrix along the axis, or no_position
};

/// The greyordinates of the places: one part per structure. `structures`: of each file, or "-" for what it says; empty
/// if all say it. Throws failure: usage for names that are none, bad_data for places that are there twice or surfaces
/// without a structure.
matrix_axis make_models(const matrix_places& places, const std::vector<std::string>& structures);

/// The positions among the greyordinates of a CIFTI file. Logs how many places are not among them. Throws failure
/// (bad_data), also if none are.
matrix_axis match_models(const matrix_places& places, const std::vector<std::string>& structures,
                         const std::string& path);

/// The parcels of one .dlabel.nii or of .label.gii files; position: the parcel of each place. Key 0 is no parcel.
/// Throws failure.
matrix_axis make_parcels(const matrix_places& places, const std::vector<std::string>& structures,
                         const std::vector<std::string>& paths);

}  // namespace voxherd
