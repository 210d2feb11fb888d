#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// The masks of one tract in a folder of XTRACT (Warrington 2020, NeuroImage 217:116923). File names; "" for none.
struct tract_protocol {
  std::string name, seed, stop, exclude;
  std::vector<std::string> targets;
  bool ordered = false;   ///< targets must be passed in their order
  bool inverted = false;  ///< also from the last target to the seed
  double factor = 1;      ///< multiplies the number of streamlines

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
