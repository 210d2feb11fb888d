#pragma once

#include <string>

#include "src/analyses/track/track_run.hpp"

namespace voxherd {

/// A density for each seed (--simple): matrix 2 with all voxels that streamlines can reach.
seed_matrix make_seed_densities(const session& s, const std::string& file, const track_inputs& in);

/// A density for each of --targets (--otargetpaths): matrix 3 whose rows are the targets and whose columns all voxels
/// that streamlines can reach. Throws failure: targets overlap, or are surfaces.
pair_matrix make_target_densities(const session& s, const std::string& file, const track_inputs& in);

/// The voxels of a text file (x y z per line, or all x, all y and all z on three lines, as FSL takes them) as a mask.
/// On one process. Throws failure.
label_image read_voxel_list(const std::string& path, const fsl_grid& grid);

}  // namespace voxherd
