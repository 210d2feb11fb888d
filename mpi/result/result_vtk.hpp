#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// /VTKHDF, so that ParaView opens the file: poly-lines if there are any, else the image and its maps. By one process.
void create_vtkhdf(hid_t file, const result_layout& layout);

/// Writes this rank's share of connectivity and cell types, if there are poly-lines.
void write_polylines(hid_t file, const result_layout& layout, int rank, int ranks);

/// The datasets of /VTKHDF that differ from what the layout says, in this rank's share. They need no checksums.
std::vector<std::string> wrong_polylines(hid_t file, const result_layout& layout, int rank, int ranks);

}  // namespace voxherd
