#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "src/analyses/track/options.hpp"
#include "src/analyses/track/samples.hpp"
#include "src/analyses/track/spaces.hpp"
#include "src/analyses/track/surface_masks.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// Streamlines from some seeds with their masks. A plain run has one draw; a tract has one, or two if streamlines also
/// lead back from its last target.
struct track_draw {
  std::size_t tract = 0;  ///< its number
  // Voxels in masks of this draw only, and their bits beside the common ones.
  std::vector<std::uint32_t> marked, marks;
  std::vector<track::seed> seeds;          ///< by region, then by voxel; with surfaces in their order
  std::vector<std::string> include_names;  ///< of the masks that streamlines must pass
  track::walk_settings how;
  track::group_plan plan;
  // Those of the draws before it.
  std::uint64_t first_seed = 0, first_group = 0, first_streamline = 0;

  static constexpr auto members() {
    using T = track_draw;
    return std::tuple(&T::tract, &T::marked, &T::marks, &T::seeds, &T::include_names, &T::how, &T::plan, &T::first_seed,
                      &T::first_group, &T::first_streamline);
  }
};

/// Streamlines whose counts a result has under one name.
struct track_tract {
  std::string name;  ///< "" in a plain run, which has one
  std::uint64_t started = 0;

  static constexpr auto members() { return std::tuple(&track_tract::name, &track_tract::started); }
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

/// Where streamlines run and are counted.
struct track_places {
  std::vector<track::voxel_info> voxels;  ///< (nz, ny, nx) of the seeds' image: common masks and places of the counts
  std::vector<track::voxel_info> sample_voxels;  ///< voxels of the samples' grid, if the seeds' space is separate
  std::vector<std::uint64_t> place_voxels;       ///< linear index of each place's voxel in the seeds' image
  std::uint64_t mask_voxels = 0;                 ///< in which streamlines run

  static constexpr auto members() {
    using T = track_places;
    return std::tuple(&T::voxels, &T::sample_voxels, &T::place_voxels, &T::mask_voxels);
  }
};

/// Masks of all draws, besides those in track_places::voxels.
struct track_masks {
  surface_masks surfaces;
  std::vector<std::uint32_t> exits, target_begin, targets;  ///< tables of track::track_input
  std::vector<std::string> target_names;
  counted_regions regions;

  static constexpr auto members() {
    using T = track_masks;
    return std::tuple(&T::surfaces, &T::exits, &T::target_begin, &T::targets, &T::target_names, &T::regions);
  }
};

/// What is drawn.
struct track_draws {
  std::vector<track_draw> draws;
  std::vector<track_tract> tracts;
  std::vector<list_place> seed_places;  ///< of each seed, if there are surfaces among the seeds
  std::vector<std::int64_t> labels;  ///< label of region number i + 1; empty unless the seeds are those of --connectome

  static constexpr auto members() {
    using T = track_draws;
    return std::tuple(&T::draws, &T::tracts, &T::seed_places, &T::labels);
  }
};

/// What one process reads of the files of a request, besides samples and space.
struct track_contents {
  track_places places;
  track_masks masks;
  track_draws drawn;
  nlohmann::json provenance, configuration;

  static constexpr auto members() {
    using T = track_contents;
    return std::tuple(&T::places, &T::masks, &T::drawn, &T::provenance, &T::configuration);
  }
};

/// Inputs of `voxherd track`; the same on every rank. Seeds, groups and streamlines are numbered over all draws.
struct track_inputs : track_places, track_masks, track_draws {
  track_inputs(const track_request& request, posterior_samples samples, track_space space, track_contents contents);

  posterior_samples samples;
  track_space space;
  double step_mm;
  mask_rules rules;
  tally_choice tallies;    ///< that options ask for
  std::uint64_t max_kept;  ///< streamlines to keep
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

  /// The voxel of a seed, as the result numbers it; no_voxel if it is a vertex.
  std::uint64_t seed_voxel(std::uint64_t seed) const;
  bool is_vertex(std::size_t seed) const { return !seed_places.empty() && seed_places[seed].is_vertex(); }

  /// What a tracker of the draw reads, without `marks` of its own.
  track::track_input view(const track_draw& draw) const;
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
