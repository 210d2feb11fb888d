#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// A sparse matrix of streamlines from each seed (row) to voxels (columns): FSL's matrix 1 (seeds) or 2 (a mask).
struct seed_matrix {
  int number = 1;                     ///< FSL's
  std::string file;                   ///< where it is written
  image_grid grid;                    ///< of the columns
  std::vector<std::uint64_t> voxels;  ///< of each column, linear indices in this grid
  std::vector<std::int32_t> column;   ///< by voxel of the grid; -1: none
  std::int32_t min_total = 0;         ///< steps of the shortest streamlines that count
  track::column_grid view(const image_grid& samples) const;
};

/// Matrices that the request asks for. Collective. Throws failure.
std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in);

/// Adds the steps that draw the rows twice: how many entries each has, and what they are.
void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps);

}  // namespace voxherd
