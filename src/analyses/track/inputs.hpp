#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "kernels/track/tracker.hpp"
#include "mpi/comm/node_memory.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/track/options.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// Posterior samples of fibre directions, packed, in memory shared by the ranks of a node.
struct posterior_samples {
  image_grid grid;
  std::vector<std::uint64_t> voxels;  ///< linear indices of the voxels with samples, increasing
  std::int32_t fibres = 0, samples = 0;
  nlohmann::json provenance;  ///< fingerprints of the input files
  bool is_masked;             ///< `voxels` are those of the mask that was given
  node_memory memory;

  std::span<const track::packed_fibre> packed() const {
    const auto bytes = memory.bytes();
    return {reinterpret_cast<const track::packed_fibre*>(bytes.data()), bytes.size() / sizeof(track::packed_fibre)};
  }
};

/// Counts the values that cannot be samples of fibres, while they are packed.
class sample_check {
 public:
  /// `fibre`: its number, from 0.
  void add(std::size_t fibre, const track::packed_values& seen);
  void add_overfull(std::uint64_t samples) { overfull_ += samples; }
  void add(const sample_check& other);
  /// `names`: of polar angle, azimuth and fraction of each fibre, for the message. Throws failure (bad_data).
  void refuse_bad(const std::vector<std::string>& names) const;

 private:
  std::vector<track::packed_values> fibres_;
  std::uint64_t overfull_ = 0;  ///< samples whose fractions add up to more than 1
};

/// From a result of ballstick, or from a folder of bedpostX (merged_th1samples, ..., nodif_brain_mask), which may be
/// given as FOLDER/merged. `mask`: replaces the folder's, or "". `threads`: 0 for all cores
/// of the node. Collective. Throws failure (missing_input, bad_data),
/// the same on every rank.
posterior_samples read_posterior_samples(const session& s, const std::string& path, const std::string& mask,
                                         int threads);

/// An affine map between the voxels of two images.
struct voxel_map {
  matrix3 axes{1, 0, 0, 0, 1, 0, 0, 0, 1};
  vector3 origin{};

  vector3 operator()(const vector3& voxel) const;
  voxel_map inverse() const;
  bool is_identity() const;
  track::point_map rounded() const;
};

/// The first map, then the second.
voxel_map product(const voxel_map& first, const voxel_map& second);

/// The map by world coordinates.
voxel_map map_by_world(const image_grid& from, const image_grid& to);

/// The image of the seeds, masks and counts.
struct track_space {
  image_grid grid;
  bool is_separate = false;  ///< not simply the samples' image
  voxel_map to_samples, to_seeds;
};

/// The space that --seedref and --xfm ask for. Adds the files to `provenance`. On one process. Throws failure.
track_space read_track_space(const track_request& request, const image_grid& samples, nlohmann::json& provenance);

/// Inputs of `voxherd track`; the same on every rank.
struct track_inputs {
  explicit track_inputs(posterior_samples read) : samples(std::move(read)) {}

  posterior_samples samples;
  track_space space;
  std::vector<track::voxel_info> voxels;         ///< (nz, ny, nx) of space.grid: masks and places of the counts
  std::vector<track::voxel_info> sample_voxels;  ///< voxels of the samples' grid, if the space is separate
  std::vector<std::uint64_t> place_voxels;       ///< linear index of each place's voxel in space.grid
  std::vector<track::seed> seeds;                ///< seeds by region, then by voxel
  std::vector<std::int64_t> labels;              ///< label of region number i + 1; empty without --connectome
  std::vector<std::uint32_t> exits, target_begin, targets;  ///< tables of track::track_input
  std::vector<std::string> target_names;
  track::walk_settings how;
  track::group_plan plan;
  double step_mm = 0;
  std::uint64_t max_kept = 0;              ///< streamlines to keep
  std::uint64_t mask_voxels = 0;           ///< in which streamlines run; on the root
  std::vector<std::string> include_names;  ///< of the masks that streamlines must pass; on the root
  bool lengths = false, directions = false;
  nlohmann::json provenance, configuration;

  /// Columns of the counts by seed: regions of --connectome, or targets.
  std::size_t columns() const { return labels.empty() ? target_names.size() : labels.size(); }
  /// Rows of the sums of these counts: the seed's region, or the seed.
  std::size_t hit_rows() const { return labels.empty() ? seeds.size() : labels.size(); }
  std::size_t hit_row(std::size_t seed) const { return labels.empty() ? seed : seeds[seed].region - 1; }

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

/// Cuts streamlines into groups of at least 2^16, for at most 1024 rows of counts of `row_bytes` each, or 1 GB of them.
/// Depends on the inputs only.
track::group_plan make_group_plan(std::uint64_t seeds, std::uint64_t per_seed, std::uint64_t row_bytes);

/// The masks of one tract in a folder of XTRACT (Warrington 2020, NeuroImage 217:116923). File names; "" for none.
struct tract_protocol {
  std::string name, seed, stop, exclude;
  std::vector<std::string> targets;
  bool ordered = false;   ///< targets must be passed in their order
  bool inverted = false;  ///< also from the last target to the seed
  double factor = 1;      ///< of the number of streamlines

  std::vector<std::string> files() const;
};

/// The tracts of `folder`: one folder each with seed, stop, exclude, target1, target2, ... (.nii.gz or .nii) and,
/// empty, wayorder and invert. `list`: which ones, a line "NAME [FACTOR]" each; "" for the folder's structureList, or
/// all of its folders with a seed. Throws failure (missing_input, bad_data).
std::vector<tract_protocol> read_tract_protocols(const std::string& folder, const std::string& list);

/// Streamlines of a tract from its seed, or back from its last target.
struct tract_run {
  std::size_t tract = 0;                     ///< its number
  std::vector<std::uint32_t> marked, marks;  ///< voxels in its masks, and their bits beside mark::inside
  std::vector<track::seed> seeds;
  std::vector<std::string> include_names;  ///< on the root
  track::walk_settings how;
  track::group_plan plan;
  std::uint64_t first_group = 0;
};

/// Inputs of `voxherd track --tracts`; the same on every rank.
struct tract_inputs {
  track_inputs field;  ///< without masks and seeds
  std::vector<std::string> names;
  std::vector<tract_run> runs;

  std::uint64_t groups() const { return runs.back().first_group + runs.back().plan.groups(); }
  /// The run with this group.
  const tract_run& run_with(std::uint64_t group) const;
  /// What a tracker of the run reads, with its masks in `voxels`.
  track::track_input view(const tract_run& run, std::span<const track::voxel_info> voxels) const;
};

/// Collective. Throws failure, the same on every rank.
tract_inputs read_tract_inputs(const session& s, const track_request& request);

}  // namespace voxherd
