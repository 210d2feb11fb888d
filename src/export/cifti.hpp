#pragma once

#include <string>
#include <vector>

#include "src/export/export_plan.hpp"
#include "src/export/matrix_places.hpp"

namespace voxherd {

extern const export_kind cifti_export;

/// Values of seeds: one row per place, one column per map.
struct place_maps {
  matrix_places places;
  std::vector<std::string> names;
  std::vector<float> values;
};

/// Whether the result is of streamlines with seeds on surfaces, for which maps on the image grid do not exist.
bool has_vertex_seeds(const result_reader& result);

/// What was counted of each vertex: accepted streamlines, those that reach each target, their mean length. Throws
/// failure (bad_data).
place_maps read_seed_maps(const result_reader& result, double factor, bool log);

/// The connectivity blueprint (Mars et al. 2018, eLife 7:e35237; Warrington et al. 2020, NeuroImage 217:116923): the
/// rows of matrix 2, each divided by its sum, times the normalised densities of the tracts in `tracts` (a result of
/// track --tracts) above `threshold`, at the voxels of the columns; then rows are divided by their sums again. Throws
/// failure (missing_input, bad_data).
place_maps make_blueprint(const result_reader& matrix, const std::string& tracts, double threshold,
                          matrix_quantity quantity);

/// Whether a result has a connectome between regions, of track, connect or geodesic.
bool has_region_matrices(const result_reader& result);

/// Writes one of its matrices (settings.cifti.matrix) as a .pconn.nii. Parcels are the regions in their order, with the
/// voxels that the parcellation, or the masks, have for each; a region that they lack has none. Throws failure: usage
/// for options that are for matrices of voxels, or another matrix than there is, bad_data if the parcellation is not
/// there, has changed, or has surfaces.
void write_region_matrix(const export_settings& settings, const result_reader& result);

}  // namespace voxherd
