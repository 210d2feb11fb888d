#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kernels/track/field.hpp"
#include "mpi/comm/node_memory.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/track/options.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/warps/voxel_warp.hpp"

namespace voxherd {

/// The image of the seeds, masks and counts.
struct track_space {
  fsl_grid grid;
  bool is_separate = false;  ///< not simply the samples' image
  voxel_warp to_samples, to_seeds;
  inverse_error error;  ///< of warps, at voxels with samples

  bool is_warp() const { return to_samples.points() > 0 || to_seeds.points() > 0; }
};

/// The image whose space --seedref or --transform asks for; "" if it is that of the samples. Throws failure.
std::string seed_space_image(const track_request& request);

/// The space that --seedref, --transform and --inverse-transform ask for. Displacements are in `memory`. Adds the files
/// to `provenance`. Collective. Throws failure.
track_space read_track_space(const session& s, const track_request& request, const fsl_grid& samples,
                             std::vector<node_memory>& memory, nlohmann::json& provenance);

/// Measures how far the warps of a space are from being each other's inverse, and warns. `used`: the samples' voxels
/// with samples. Throws failure (bad_data) if a warp's grid is elsewhere. On one process.
void check_warps(const track_request& request, const fsl_grid& samples, const std::vector<std::uint8_t>& used,
                 track_space& space);

/// Adds what check_warps() found.
void add_warp_error(const track_space& space, nlohmann::json& configuration);

}  // namespace voxherd
