#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/samples.hpp"
#include "src/analyses/track/spaces.hpp"
#include "src/analyses/track/surface_masks.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// Streamlines from some seeds with their masks. A plain run has one draw; a tract has one, or two if streamlines also
/// lead back from its last target.
struct track_draw {
  std::size_t tract = 0;  ///< its number
  // Voxels in masks of this draw only, and their bits beside the common ones.
  std::vector<std::uint32_t> marked, marks;
  std::vector<track::seed> seeds;          ///< by region, then by voxel; with surfaces in their order
  std::vector<std::string> include_names;  ///< of the masks that streamlines must pass; on the root
  track::walk_settings how;
  track::group_plan plan;
  // Those of the draws before it.
  std::uint64_t first_seed = 0, first_group = 0, first_streamline = 0;
};

/// Streamlines whose counts a result has under one name.
struct track_tract {
  std::string name;  ///< "" in a plain run, which has one
  std::uint64_t started = 0;
};

/// The regions of --connectome if the seeds are others: streamlines are counted between all regions that they pass, or
/// those at their two ends.
struct counted_regions {
  std::vector<std::int64_t> labels;  ///< of each region; empty if there are none
  fsl_grid grid;                     ///< that of the parcellation
  std::vector<std::int32_t> column;  ///< (nz, ny, nx): number of the voxel's region, from 0; -1: none
  bool at_ends = false;
  double end_radius_mm = 0;  ///< from an end to the nearest voxel of a region

  bool empty() const { return labels.empty(); }
  static constexpr auto members() {
    using T = counted_regions;
    return std::tuple(&T::labels, &T::grid, &T::column, &T::at_ends, &T::end_radius_mm);
  }
};

/// Inputs of `voxherd track`; the same on every rank. Seeds, groups and streamlines are numbered over all draws.
struct track_inputs {
  explicit track_inputs(posterior_samples read) : samples(std::move(read)) {}

  posterior_samples samples;
  track_space space;
  std::string reference;                         ///< seed_space_image(); on the root
  std::vector<node_memory> warp_memory;          ///< displacements of `space`
  std::vector<track::voxel_info> voxels;         ///< (nz, ny, nx) of space.grid: common masks and places of the counts
  std::vector<track::voxel_info> sample_voxels;  ///< voxels of the samples' grid, if the space is separate
  std::vector<std::uint64_t> place_voxels;       ///< linear index of each place's voxel in space.grid
  std::vector<list_place> seed_places;           ///< of each seed, if there are surfaces among the seeds
  surface_masks surfaces;
  std::vector<std::int64_t> labels;  ///< label of region number i + 1; empty unless the seeds are those of --connectome
  counted_regions regions;
  std::vector<std::uint32_t> exits, target_begin, targets;  ///< tables of track::track_input
  std::vector<std::string> target_names;
  std::vector<track_draw> draws;
  std::vector<track_tract> tracts;
  double step_mm = 0;
  mask_rules rules = mask_rules::own;
  tally_choice tallies;           ///< that options ask for
  std::uint64_t max_kept = 0;     ///< streamlines to keep
  std::uint64_t mask_voxels = 0;  ///< in which streamlines run; on the root
  nlohmann::json provenance, configuration;

  /// Labels of the rows and columns of the connectome's matrices.
  const std::vector<std::int64_t>& region_labels() const { return regions.empty() ? labels : regions.labels; }
  /// Columns of the counts by seed: regions of the seeds, then targets.
  std::size_t columns() const { return labels.size() + target_names.size(); }
  /// Whether results name their tracts.
  bool has_tracts() const { return !tracts.front().name.empty(); }
  std::uint64_t seeds() const { return draws.back().first_seed + draws.back().seeds.size(); }
  std::uint64_t groups() const { return draws.back().first_group + draws.back().plan.groups(); }
  std::uint64_t streamlines() const { return draws.back().first_streamline + draws.back().plan.streamlines(); }
  const track_draw& draw_with_seed(std::uint64_t seed) const;
  const track_draw& draw_with_group(std::uint64_t group) const;
  const track_draw& draw_with_streamline(std::uint64_t streamline) const;
  const track::seed& seed(std::uint64_t number) const;
  /// Sizes of the arrays of one group, the same in all draws.
  track::count_extents extents() const;

  /// The labels of an image in the space's grid. On the root. Throws failure.
  label_image read_image(const std::string& path, label_kind kind) const;
  /// The voxel of a seed, as the result numbers it; no_voxel if it is a vertex.
  std::uint64_t seed_voxel(std::uint64_t seed) const;
  bool is_vertex(std::size_t seed) const { return !seed_places.empty() && seed_places[seed].is_vertex(); }

  /// What a tracker of the draw reads, without `marks` of its own.
  track::track_input view(const track_draw& draw) const;
  /// Whether a streamline from this voxel's centre starts in the samples.
  bool has_samples(std::uint64_t voxel) const;
};

/// The masks of one draw after another.
class draw_masks {
 public:
  explicit draw_masks(const track_inputs& in) : in_(in) {}

  /// What a tracker of the draw reads. Refers to this, until the next call.
  track::track_input view(const track_draw& draw);

 private:
  const track_inputs& in_;
  const track_draw* current_ = nullptr;    ///< whose marks are in `voxels_`
  std::vector<track::voxel_info> voxels_;  ///< empty until a draw has masks of its own
};

}  // namespace voxherd
