#pragma once

#include <memory>
#include <string>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/track/kept_lists.hpp"
#include "src/analyses/track/matrix.hpp"

namespace voxherd {

/// FSL's matrix 3: pairs of voxels that streamlines connect, of one mask or of two; or pairs of regions.
struct pair_matrix {
  seed_matrix rows;                  ///< the mask of the rows, and of the columns unless they have their own
  seed_matrix columns;               ///< the other mask; without voxels if there is none
  std::shared_ptr<kept_pairs> kept;  ///< lists that were drawn with the groups of streamlines, or for their sizes
  std::string option = "--matrix3", step = "pair", result = "matrix3";  ///< names
  /// The sums of all streamlines, if they go into the run's own result instead of a file: see add_pair_steps().
  std::shared_ptr<std::vector<track::pair_entry>> sums;

  bool has_own_columns() const { return !columns.voxels.empty(); }
  const seed_matrix& column_mask() const { return has_own_columns() ? columns : rows; }
};

/// The voxels of a mask (--target3) that streamlines connect with each other, or with those of another mask
/// (--target3-columns), each pair once per streamline. Collective. Throws failure.
pair_matrix make_pair_matrix(const session& s, const track_request& request, track_inputs& in);

/// FSL's matrix 4 with --matrix4-rows: the places of a mask (rows) that streamlines connect with the voxels of
/// --target4 (columns), by the fibre followed there. Collective. Throws failure.
pair_matrix make_fibre_pairs(const session& s, const track_request& request, track_inputs& in);

/// The regions that the streamlines of other seeds join (track_inputs::regions). `sums` has the pairs after the run's
/// steps.
pair_matrix make_region_pairs(const session& s, const track_inputs& in);

/// Changes what a tracker reads: it counts the pairs, and no targets.
void adapt_to_pairs(const pair_matrix& matrix, const track_inputs& in, track::track_input& view);

/// Adds the steps: pairs of each group of streamlines, which ranks add up as they come; the file, if there is one.
void add_pair_steps(const session& s, const pair_matrix& matrix, const track_inputs& in, const device& d,
                    step_list& steps);

}  // namespace voxherd
