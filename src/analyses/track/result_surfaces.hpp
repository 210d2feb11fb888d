#pragma once

#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd {

/// The surfaces among the seeds and masks of a result of track, each file once, with what the result knows of their
/// vertices: streamlines of seeds, sums of a matrix, and the density at the others. Throws failure (bad_data, disk).
std::vector<shown_surface> read_track_surfaces(const result_reader& result);

}  // namespace voxherd
