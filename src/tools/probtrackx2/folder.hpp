#pragma once

#include <string>

#include "src/export/export_plan.hpp"

namespace voxherd {

/// What to write into a folder of probtrackx2.
struct probtrackx2_outputs {
  std::string name = "fdt_paths";  ///< of the density
  bool density = false, distance_corrected = false, lengths = false, directions = false;
};

/// The files of probtrackx2: waytotal, the density, its mean lengths, the matrix of a network. `result`: of track.
export_plan plan_probtrackx2_folder(const result_volumes& result, const probtrackx2_outputs& wanted);

}  // namespace voxherd
