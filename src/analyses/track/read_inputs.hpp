#pragma once

#include <functional>
#include <string>

#include "mpi/comm/session.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/mask_reader.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/surface_seeds.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// A file of another kind whose voxels are the seeds, instead of --seed-image.
struct seed_list {
  std::string path;  ///< "" for none
  /// In one process. Throws failure.
  label_image (*read)(const std::string& path, const fsl_grid& grid) = nullptr;
};

/// Collective. Throws failure, the same on every rank.
track_inputs read_track_inputs(const session& s, const track_request& request, const seed_list& seeds);

/// What a plain run reads of its masks and seeds. `request`: with the files of with_mask_files(). In one process.
/// Throws failure.
track_contents read_track_contents(const track_request& request, const seed_list& seeds, const sample_contents& samples,
                                   const track_space& space);

using contents_reader = std::function<track_contents(const sample_contents& samples, const track_space& space)>;
/// Reads the samples and the space of a request, and shares what `read_contents` returns on rank 0. Only rank 0 needs
/// the request with the files of with_mask_files(). Collective. Throws failure.
track_inputs read_inputs_with(const session& s, const track_request& request, const contents_reader& read_contents);

// Parts of the contents, for one draw of several.

/// Reads the masks of a draw and its seeds. In one process, with the files of with_mask_files(). Throws failure.
found_seeds read_masked_seeds(const track_request& request, const seed_list& seeds, mask_reader& masks);
track_draw make_draw(const track_request& request, std::vector<track::seed> seeds, const mask_reader& masks);
/// The options that a result stores, and what was found for some of them.
nlohmann::json make_track_configuration(const track_request& request, const surface_masks& surfaces,
                                        const mask_reader& masks);

}  // namespace voxherd
