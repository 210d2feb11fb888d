#pragma once

#include "src/export/export_plan.hpp"

namespace voxherd {

extern const export_kind dot_export;

/// Values of the text files of a matrix.
struct dot_values {
  bool distance_corrected = false;  ///< lengths instead of counts: their sum, for matrix 3 their mean, as in FSL
  bool lengths = true;              ///< also a file with mean lengths, if the matrix has lengths
};

/// Writes a matrix of track as FSL does into the folder settings.out. On one process. Throws failure.
void write_matrix_folder(const export_settings& settings, const dot_values& wanted);

}  // namespace voxherd
