#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/result/result_reader.hpp"
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
  track::column_grid view(const track_space& space) const;
};

/// Matrices that the request asks for. Collective. Throws failure.
std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in);

/// A matrix whose columns are the voxels of a mask on its own grid, which may be coarser than the samples'.
seed_matrix make_mask_matrix(int number, const std::string& file, const std::string& mask);
/// Fills `column` from `voxels`.
void number_columns(seed_matrix& matrix);
/// Steps of a length, rounded up.
std::int32_t to_steps(double mm, const track_inputs& in);

/// What a tracker of the matrix reads; densities and targets are left out.
track::track_input make_matrix_view(const seed_matrix& matrix, const track_inputs& in);

/// Outputs and constants of the file: entries are points, rows are items.
std::vector<output_spec> matrix_outputs(element_type count, bool lengths);
std::vector<constant> matrix_constants(const seed_matrix& matrix);

/// Sums of the output `entries` of a step's file: where the entries of each item begin. Collective. Throws failure.
template <class T>
std::vector<std::uint64_t> read_sizes(const session& s, const std::string& file) {
  std::vector<std::uint64_t> offsets{0};
  s.on_root([&] {
    const result_reader sizes(file, tables::walked_or_own);
    for (const T n : sizes.read_rows<T>("entries", 0, sizes.item_voxels().size()))
      offsets.push_back(offsets.back() + n);
  });
  s.broadcast(offsets);
  return offsets;
}

/// Adds the steps that draw the rows twice: how many entries each has, and what they are.
void add_matrix_steps(const session& s, const seed_matrix& matrix, const track_inputs& in, const device& d,
                      step_list& steps);

}  // namespace voxherd
