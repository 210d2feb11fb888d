#pragma once

#include <cstdint>
#include <string>

#include "src/io/tracts/fibre_source.hpp"

namespace voxherd {

// Each writer writes one file under a temporary name until complete, and keeps the offsets and one piece of the fibres
// in memory. Throws failure: disk, and bad_data for values that the format cannot represent.

/// MRtrix tracks: only positions, float32, scanner coordinates (world mm, RAS+). Throws failure (bad_data) for a
/// position that is not finite, because NaN ends a fibre in this format.
void write_tck(const fibre_source& source, const std::string& path);

/// TrackVis, version 2: positions in mm along the voxel axes from the corner of the first voxel; point arrays as
/// scalars, fibre arrays as properties, all float32. The format allows ten columns of each: narrow arrays first; arrays
/// that do not fit are left out and named in the log.
void write_trk(const fibre_source& source, const std::string& path);

/// TRX: a ZIP of plain arrays, world mm, each with its own element type. `zip64_from`: sizes and offsets from this
/// value on are written in 64 bits; change it only in tests.
void write_trx(const fibre_source& source, const std::string& path, std::uint64_t zip64_from = 0xffffffff);

}  // namespace voxherd
