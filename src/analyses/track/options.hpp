#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "kernels/track/settings.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

enum class end_weights { full, half };

/// `voxherd track`.
struct track_request {
  std::string samples, seed_image, network;  ///< files; "" for none
  std::uint32_t per_seed = 5000;
  double radius_mm = 0;
  std::uint64_t random_seed = 0;

  float step_mm = 0.5f;
  std::int32_t max_steps = 2000;
  float curvature = 0.2f;
  float fibre_threshold = 0.01f;
  track::first_fibre first = track::first_fibre::strongest;
  std::int32_t start_fibre = 0;
  track::step_mean averaging = track::step_mean::none;
  bool loop_check = false;
  bool stop_by_fraction = false;
  end_weights ends = end_weights::full;

  std::vector<std::string> avoid, stop, walk_through_stop, waypoints;  ///< files
  bool ignore_first_step = false;
  track::waypoint_rule rule = track::waypoint_rule::all;
  bool ordered = false, each_half = false;
  float min_length_mm = 0;

  bool lengths = false, directions = false;
  std::vector<std::string> targets;
  std::string matrix1, matrix2, target2, matrix3, target3;  ///< files; "" for none
  double matrix_min_length_mm = 0;
  run_request run;
};

const option_table<track_request>& track_options();

/// How streamlines are drawn in voxels of this size, mm; `flipped`: the first axis of the samples' directions runs
/// against that of the image. `samples` and `fibres` are left to the caller.
track::walk_settings make_walk_settings(const track_request& request, const double (&voxel_mm)[3], bool flipped);

}  // namespace voxherd
