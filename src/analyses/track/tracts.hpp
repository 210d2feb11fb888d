#pragma once

#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/options.hpp"

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

/// What `voxherd track --tracts` reads and draws.
struct tract_plan {
  track_request request;  ///< with the image of the seeds' space
  track_request common;   ///< the options of all draws, with their files, and the masks of the first tract
  std::vector<tract_protocol> tracts;
};

/// In one process. Throws failure (missing_input, bad_data, usage).
tract_plan plan_tracts(const track_request& request);

/// What all tracts have in common, and the draws of each. In one process. Throws failure.
track_contents read_tract_contents(const tract_plan& plan, const sample_contents& samples, const track_space& space);

/// Inputs of `voxherd track --tracts`: a tract for each protocol. Collective. Throws failure, the same on every rank.
track_inputs read_tract_inputs(const session& s, const track_request& request);

}  // namespace voxherd
