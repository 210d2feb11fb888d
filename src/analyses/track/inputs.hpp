#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/samples.hpp"
#include "src/analyses/track/spaces.hpp"
#include "src/analyses/track/surface_masks.hpp"

namespace voxherd {

/// Inputs of `voxherd track`; the same on every rank.
struct track_inputs {
  explicit track_inputs(posterior_samples read) : samples(std::move(read)) {}

  posterior_samples samples;
  track_space space;
  std::string reference;                         ///< seed_space_image(); on the root
  std::vector<node_memory> warp_memory;          ///< displacements of `space`
  std::vector<track::voxel_info> voxels;         ///< (nz, ny, nx) of space.grid: masks and places of the counts
  std::vector<track::voxel_info> sample_voxels;  ///< voxels of the samples' grid, if the space is separate
  std::vector<std::uint64_t> place_voxels;       ///< linear index of each place's voxel in space.grid
  std::vector<track::seed> seeds;                ///< seeds by region, then by voxel; with surfaces in their order
  std::vector<list_place> seed_places;           ///< of each seed, if there are surfaces among the seeds
  surface_masks surfaces;
  std::vector<std::int64_t> labels;  ///< label of region number i + 1; empty without --connectome
  std::vector<std::uint32_t> exits, target_begin, targets;  ///< tables of track::track_input
  std::vector<std::string> target_names;
  track::walk_settings how;
  track::group_plan plan;
  double step_mm = 0;
  mask_rules rules = mask_rules::own;
  std::uint64_t max_kept = 0;              ///< streamlines to keep
  std::uint64_t mask_voxels = 0;           ///< in which streamlines run; on the root
  std::vector<std::string> include_names;  ///< of the masks that streamlines must pass; on the root
  bool lengths = false, directions = false;
  nlohmann::json provenance, configuration;

  /// Columns of the counts by seed: regions of --connectome, then targets.
  std::size_t columns() const { return labels.size() + target_names.size(); }

  /// The labels of an image in the space's grid. On the root. Throws failure.
  label_image read_image(const std::string& path, label_kind kind) const;
  /// The voxel of a seed, as the result numbers it; no_voxel if it is a vertex.
  std::uint64_t seed_voxel(std::size_t seed) const;
  bool is_vertex(std::size_t seed) const { return !seed_places.empty() && seed_places[seed].is_vertex(); }

  track::track_input view() const;
  /// Replaces the masks of a view.
  void set_masks(std::span<const track::voxel_info> masks, track::track_input& view) const;
  /// Whether a streamline from this voxel's centre starts in the samples.
  bool has_samples(std::uint64_t voxel) const;
};

/// Collective. Throws failure, the same on every rank.
track_inputs read_track_inputs(const session& s, const track_request& request);

/// The space and the places, without masks and seeds; the root also has `voxels`. Collective. Throws failure.
track_inputs read_track_field(const session& s, const track_request& request, posterior_samples samples);
/// Adds the masks, the seeds and how streamlines are drawn. By one process, with the files of with_mask_files(). Throws
/// failure.
void read_streamline_masks(const track_request& request, track_inputs& in);

/// A seed at a voxel's centre.
track::seed seed_at(const image_grid& grid, std::uint64_t voxel, std::uint32_t region);

/// Seeds of a list with surfaces, in its order: voxels of images that have samples, and active vertices, also those
/// outside the samples. On one process. Throws failure.
void read_listed_seeds(const track_request& request, track_inputs& in);

/// Warns if no streamline joins two surfaces of seeds, as with closed surfaces to stop at. `joining`: those that do. On
/// one process.
void warn_of_separate_surfaces(const track_inputs& in, std::uint64_t joining);

/// Cuts streamlines into groups of at least 2^16, for at most 1024 rows of counts of `row_bytes` each, or 1 GB of them.
/// `whole_seeds`: no group has only a part of a seed's streamlines, unless these are more than 2^24. `pairs`: at most
/// 256 groups, since each has a list of pairs, many of which are in every list. Depends on the inputs only.
track::group_plan make_group_plan(std::uint64_t seeds, std::uint64_t per_seed, std::uint64_t row_bytes,
                                  bool whole_seeds = false, bool pairs = false);

}  // namespace voxherd
