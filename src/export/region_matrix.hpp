#pragma once

#include "mpi/result/result_reader.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

/// Whether a result has a connectome between regions, of track, connect or geodesic.
bool has_region_matrices(const result_reader& result);

/// Writes one of its matrices (settings.cifti.matrix) as a .pconn.nii. Parcels are the regions in their order, with the
/// voxels that the parcellation, or the masks, have for each; a region that they lack has none. Throws failure: usage
/// for options that are for matrices of voxels, or another matrix than there is, bad_data if the parcellation is not
/// there, has changed, or has surfaces.
void write_region_matrix(const export_settings& settings, const result_reader& result);

}  // namespace voxherd
