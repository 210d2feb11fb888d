#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

inline constexpr std::uint32_t no_position = 0xffffffff;

/// A mask or a surface whose places are rows or columns of a matrix.
struct place_file {
  std::string path;
  std::string changed;         ///< why it cannot be read again; "" if it can
  std::string structure;       ///< of a surface; "" if not stated
  std::uint64_t vertices = 0;  ///< of a surface; 0 for a mask
};

/// The rows or the columns of a matrix of track: vertices of surfaces and voxels of masks.
struct matrix_places {
  std::vector<place_file> files;
  std::vector<std::uint32_t> file;   ///< number of each place's file
  std::vector<std::uint64_t> place;  ///< vertex, or linear index of a voxel
  image_grid grid;                   ///< of the voxels

  std::uint64_t size() const { return place.size(); }
};

/// Whether the result is a complete matrix of track; 1 to 4 as FSL numbers them. Throws failure (bad_data).
int fsl_matrix_number(const result_reader& result);

/// The image of the columns of a matrix, and the voxel of each; no_voxel for vertices. Throws failure (bad_data).
image_grid read_column_grid(const result_reader& result);
std::vector<std::uint64_t> read_column_voxels(const result_reader& result);

/// Whether the rows are seeds.
bool has_seed_rows(const result_reader& result);

/// The masks of an option of a run of track; vertices only of surfaces that are seeds or rows or columns of a matrix.
std::vector<place_file> read_mask_files(const result_reader& result, const std::string& option);
/// The files of the seeds of a run of track.
std::vector<place_file> read_seed_files(const result_reader& result);

matrix_places read_row_places(const result_reader& result);
matrix_places read_column_places(const result_reader& result);

/// Whether rows and columns are the same places in the same order.
bool operator==(const matrix_places& a, const matrix_places& b);

}  // namespace voxherd
