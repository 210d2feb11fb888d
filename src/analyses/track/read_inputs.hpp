#pragma once

#include <string>

#include "mpi/comm/session.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/options.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// A file of another kind whose voxels are the seeds, instead of --seed-image.
struct seed_list {
  std::string path;  ///< "" for none
  /// On one process. Throws failure.
  label_image (*read)(const std::string& path, const fsl_grid& grid) = nullptr;
};

/// Collective. Throws failure, the same on every rank.
track_inputs read_track_inputs(const session& s, const track_request& request, const seed_list& seeds);

/// The space and the places, without masks and seeds; the root also has `voxels`. Collective. Throws failure.
track_inputs read_track_field(const session& s, const track_request& request, posterior_samples samples);
/// Adds the masks, and returns the seeds and how streamlines are drawn. By one process, with the files of
/// with_mask_files(). Throws failure.
track_draw read_draw(const track_request& request, const seed_list& seeds, track_inputs& in);
/// Adds what all draws share: masks that must not be left, targets, and surfaces whose vertices are columns of a
/// matrix. By one process, with the files of with_mask_files(). Throws failure.
void read_counted_masks(const track_request& request, track_inputs& in);
/// From the root, but for the surfaces. Collective.
void share_counted_masks(const session& s, track_inputs& in);
/// On every rank.
void set_closest_vertex(const track_request& request, track_inputs& in);

}  // namespace voxherd
