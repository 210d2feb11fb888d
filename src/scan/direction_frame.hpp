#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/analysis.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// The axes along which a table gives its directions.
enum class direction_frame {
  fsl,    ///< the image axes, the first one negated if the determinant of the voxel-to-world matrix is positive
  image,  ///< the image axes: DIPY, and QSIPrep's .bvec
  world,  ///< right, front, up: MRtrix's tables
};

/// As an option: "fsl", "image", "world".
const char* frame_word(direction_frame frame);
/// "FSL's axes", "the image axes", "the world axes".
const char* frame_name(direction_frame frame);

/// How provenance, pages and `info` say which frame was used, and back: of a result's input.
std::string frame_form(direction_frame frame);
direction_frame stored_frame(const nlohmann::json& input);

/// The rotation (for images with a positive determinant also the reflection) from a frame to FSL's.
matrix3 frame_matrix(direction_frame frame, const image_grid& grid);

/// A table in a frame, along FSL's axes.
gradient_table to_fsl_frame(gradient_table table, direction_frame frame, const image_grid& grid);

}  // namespace voxherd
