#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/track/field.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/mask_reader.hpp"
#include "src/analyses/track/options.hpp"

namespace voxherd {

/// A seed at a voxel's centre.
track::seed seed_at(const image_grid& grid, std::uint64_t voxel, std::uint32_t region);

struct found_seeds {
  std::vector<track::seed> seeds;
  std::vector<list_place> places;    ///< of each seed, if there are surfaces among them
  std::vector<std::int64_t> labels;  ///< of the regions that are the seeds
  nlohmann::json files;              ///< of a list with surfaces, for the configuration; else null
};

/// Seeds of a list with surfaces, in its order: voxels of images that have samples, and active vertices, also those
/// outside the samples. In one process. Throws failure.
found_seeds read_listed_seeds(const track_request& request, mask_reader& masks);

/// Warns if no streamline joins two surfaces of seeds, as with closed surfaces to stop at. `joining`: those that do. In
/// one process.
void warn_of_separate_surfaces(const track_inputs& in, std::uint64_t joining);

}  // namespace voxherd
