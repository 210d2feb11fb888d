#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/track/tracker.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/kept_lists.hpp"
#include "src/scan/fsl_grid.hpp"

namespace voxherd {

/// What entries of a matrix have.
struct entry_kind {
  bool lengths = false, fibres = false;
};

/// A sparse matrix of streamlines from each seed (row) to voxels (columns): FSL's matrix 1 (seeds), 2 (a mask) or 4 (a
/// mask in the samples' space, by the fibre followed there).
struct seed_matrix {
  int number = 1;                       ///< FSL's
  std::string file;                     ///< where it is written
  fsl_grid grid;                        ///< grid of the columns
  std::vector<std::uint64_t> voxels;    ///< voxel of each column, linear index in this grid; no_voxel: it is a vertex
  std::vector<std::int32_t> column;     ///< column of each voxel of the grid; -1: none
  std::int32_t min_total = 0;           ///< steps of the shortest streamlines that count
  bool after_start = false;             ///< the seed itself is not a point in a column
  std::vector<list_place> places = {};  ///< of each column, if some are vertices
  std::vector<std::int32_t> vertex_column = {};  ///< column of each vertex of the surfaces; -1: none
  std::shared_ptr<kept_rows> kept = {};  ///< rows that were drawn with the groups of streamlines, or for their sizes
  bool by_fibre = false;
  bool at_ends = false;      ///< streamlines reach columns with their two ends only,
  double end_radius_mm = 0;  ///< up to this distance

  track::column_grid view(const track_inputs& in) const;
  entry_kind entries(const track_inputs& in) const { return {in.tallies.has<track::lengths>() || by_fibre, by_fibre}; }
  /// Numbers that are counted for a row.
  std::size_t cells() const { return voxels.size() * (by_fibre ? track::fibre_columns : 1); }
};

/// Matrices that the request asks for. Collective. Throws failure.
std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in);

/// A matrix whose columns are the voxels of a mask on its own grid, which may be coarser than the samples'.
seed_matrix make_mask_matrix(int number, const std::string& file, const std::string& mask, mask_rules rules);
/// A matrix whose columns are the voxels and vertices of a list with surfaces, which the inputs have.
seed_matrix make_listed_matrix(int number, const std::string& file, const std::vector<std::string>& masks,
                               const track_inputs& in);
/// The columns of --target4.
seed_matrix make_fibre_matrix(const track_request& request, track_inputs& in);
/// The columns of --target2 or --target3: of one mask, or of a list of images and surfaces.
seed_matrix make_target_columns(int number, const std::string& file, const std::string& name, const char* option,
                                track_inputs& in);
/// The regions that streamlines of other seeds join (track_inputs::regions), on the parcellation's grid.
seed_matrix make_region_matrix(const track_inputs& in);
/// Fills `column` from `voxels`, and `vertex_column` from `places`.
void number_columns(seed_matrix& matrix, const track_inputs& in);
/// Steps of a length, rounded up.
std::int32_t to_steps(double mm, const track_inputs& in);

/// Changes what a tracker reads: it counts the matrix, and no targets.
void adapt_to_matrix(const seed_matrix& matrix, const track_inputs& in, track::track_input& view);

/// `rows`: places of the rows in their list, if some are vertices.
std::vector<constant> matrix_constants(const seed_matrix& matrix, const std::vector<list_place>& rows);

/// Adds PREFIXroi, PREFIXplace and PREFIXposition, unless there are no places.
void add_places(const std::vector<list_place>& places, const std::string& prefix, const std::string& group,
                std::vector<constant>& all);

}  // namespace voxherd
