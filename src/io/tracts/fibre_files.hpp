#pragma once

#include <cstdint>
#include <string>

#include "src/io/tracts/fibre_source.hpp"

namespace voxherd {

// Each writes one file, which appears under its name when it is whole, and holds one piece of the fibres in memory
// beside their offsets. Throws failure: disk, and bad_data for what the format cannot say.

/// MRtrix's tracks: positions alone, float32, scanner coordinates (world mm, RAS+). Throws failure (bad_data) for a
/// position that is not finite, since NaN ends a fibre there.
void write_tck(const fibre_source& source, const std::string& path);

/// TrackVis, version 2: positions in mm along the voxel axes from the corner of the first voxel; arrays of points as
/// scalars, arrays of fibres as properties, all float32. There is room for ten columns of each: narrow arrays go first,
/// those without room are left out and named in the log.
void write_trk(const fibre_source& source, const std::string& path);

/// TRX: a ZIP of plain arrays, world mm, everything in its own type.
/// `zip64_from`: bytes from which sizes and places are written in 64 bits; another value is for tests.
void write_trx(const fibre_source& source, const std::string& path, std::uint64_t zip64_from = 0xffffffff);

}  // namespace voxherd
