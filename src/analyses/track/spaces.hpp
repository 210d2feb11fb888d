#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/track/field.hpp"
#include "mpi/comm/node_memory.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/track/options.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/warps/voxel_warp.hpp"

namespace voxherd {

/// The image of the seeds, masks and counts, as the files of a request describe it.
struct space_contents {
  fsl_grid grid;
  bool is_separate = false;                              ///< not simply the samples' image
  warp_shape to_samples, to_seeds;                       ///< without displacements
  nlohmann::json provenance = nlohmann::json::object();  ///< its files

  static constexpr auto members() {
    using T = space_contents;
    return std::tuple(&T::grid, &T::is_separate, &T::to_samples, &T::to_seeds, &T::provenance);
  }
};

/// The same with the displacements of warps.
struct track_space {
  explicit track_space(const space_contents& contents);

  fsl_grid grid;
  bool is_separate;
  voxel_warp to_samples, to_seeds;
  nlohmann::json provenance;
  std::vector<node_memory> displacements;  ///< to which the maps refer

  bool is_warp() const { return to_samples.points() > 0 || to_seeds.points() > 0; }
};

/// The image whose space --seedref or --transform asks for; "" if it is that of the samples. Throws failure.
std::string seed_space_image(const track_request& request);

/// Both maps with their displacements; a map without a warp is inverted.
struct warp_pair {
  new_warp to_samples, to_seeds;
};

/// The space that --seedref, --transform and --inverse-transform ask for, with the displacements in `warps`. In one
/// process. Throws failure.
space_contents read_space_contents(const track_request& request, const fsl_grid& samples, warp_pair& warps);

/// The same with displacements that the ranks of a node share. Collective. Throws failure.
track_space read_track_space(const session& s, const track_request& request, const fsl_grid& samples);

/// Measures how far the warps of a space are from being each other's inverse, and warns. `used`: the samples' voxels
/// with samples. Throws failure (bad_data) if a warp's grid is elsewhere. In one process.
inverse_error check_warps(const track_request& request, const fsl_grid& samples, const std::vector<std::uint8_t>& used,
                          const track_space& space);

/// Adds what check_warps() found.
void add_warp_error(const track_space& space, const inverse_error& error, nlohmann::json& configuration);

}  // namespace voxherd
