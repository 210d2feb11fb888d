#pragma once

#include <cstdint>
#include <vector>

#include "kernels/track/field.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/options.hpp"

namespace voxherd {

/// A seed at a voxel's centre.
track::seed seed_at(const image_grid& grid, std::uint64_t voxel, std::uint32_t region);

/// Seeds of a list with surfaces, in its order: voxels of images that have samples, and active vertices, also those
/// outside the samples. On one process. Throws failure.
void read_listed_seeds(const track_request& request, track_inputs& in, std::vector<track::seed>& seeds);

/// Warns if no streamline joins two surfaces of seeds, as with closed surfaces to stop at. `joining`: those that do. On
/// one process.
void warn_of_separate_surfaces(const track_inputs& in, std::uint64_t joining);

}  // namespace voxherd
