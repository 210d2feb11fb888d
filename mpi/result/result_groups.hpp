#pragma once

#include <string>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// Attributes of / (version, analysis, configuration, ...) and of /image. Collective.
void write_file_attributes(hid_t file, const result_layout& layout);

/// /VTKHDF, so that ParaView opens the file: image geometry, and links to the maps. Nothing for an image of fewer than
/// two voxels along an axis: VTK 9.1 aborts on those. Collective.
void write_vtkhdf(hid_t file, const result_layout& layout);

/// Group /VTKHDF of version 1.0 with its `Type`. Collective.
hdf5::handle new_vtkhdf(hid_t file, const std::string& data_type);

/// Hard links in `group` to the outputs of one layout that VTK can read there, numbers and vectors; not to
/// the points of poly-lines. Collective.
void link_outputs(hid_t file, hid_t group, const result_layout& layout, output_layout wanted);

}  // namespace voxherd
