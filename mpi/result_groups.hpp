#pragma once

#include "mpi/hdf5_handle.hpp"
#include "mpi/result_layout.hpp"

namespace voxherd {

/// Attributes of / (version, analysis, configuration, ...) and of /image. Collective.
void write_file_attributes(hid_t file, const result_layout& layout);

/// /VTKHDF, so that ParaView opens the file: image geometry, and links to the maps. Nothing for an image of fewer than
/// two voxels along an axis: VTK 9.1 aborts on those. Collective.
void write_vtkhdf(hid_t file, const result_layout& layout);

}  // namespace voxherd
