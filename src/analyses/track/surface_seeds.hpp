#pragma once

#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// A seed at a voxel's centre.
track::seed seed_at(const image_grid& grid, std::uint64_t voxel, std::uint32_t region);

/// Seeds of a list with surfaces, in its order: voxels of images that have samples, and active vertices, also those
/// outside the samples. On one process. Throws failure.
void read_listed_seeds(const track_request& request, track_inputs& in);

}  // namespace voxherd
