#pragma once

#include <cstdint>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// The output that makes the file's /VTKHDF a set of poly-lines: `position`, three float32 a point, world RAS mm. Null
/// where there is none.
const output_spec* polyline_points(const result_layout& layout);

/// Bytes of what only VTK needs: connectivity and cell types.
std::uint64_t polyline_bytes(const result_layout& layout);

/// /VTKHDF as an UnstructuredGrid of one cell an item, as VTK 9.1 and later read it; positions, offsets and what
/// belongs to points and items are hard links, nothing is stored twice. Collective.
void create_polylines(hid_t file, const result_layout& layout);

/// Writes this rank's share of connectivity and cell types; nothing where there are no poly-lines.
void write_polylines(hid_t file, const result_layout& layout, int rank, int ranks);

}  // namespace voxherd
