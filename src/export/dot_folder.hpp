#pragma once

#include "src/export/export_plan.hpp"

namespace voxherd {

extern const export_kind dot_export;

/// A matrix of track in memory, row by row as in its file.
struct sparse_matrix {
  /// Throws failure (bad_data): it is not a complete matrix of track.
  explicit sparse_matrix(const result_reader& result);

  std::vector<std::uint64_t> offsets;  ///< first entry of each row, and their number
  std::vector<std::uint32_t> column;   ///< of each entry, like the next two
  std::vector<std::uint64_t> count;
  std::vector<double> length_sum;  ///< mm; empty if the matrix has no lengths
  image_grid column_grid;
  std::vector<std::uint64_t> column_voxel;  ///< linear index of each column's voxel in its image; no_voxel: a vertex
};

/// Values of the text files of a matrix.
struct dot_values {
  bool distance_corrected = false;  ///< lengths instead of counts: their sum, for matrix 3 their mean, as in FSL
  bool lengths = true;              ///< also a file with mean lengths, if the matrix has lengths
};

/// Writes a matrix of track as FSL does into the folder settings.out. On one process. Throws failure.
void write_matrix_folder(const export_settings& settings, const dot_values& wanted);

}  // namespace voxherd
