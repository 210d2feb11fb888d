#pragma once

#include <memory>

#include "bench/program.hpp"
#include "kernels/geodesic/settings.hpp"

namespace voxherd::bench {

/// The timed part of a call; the field stays on the device.
enum class timed_part {
  scoring,        ///< from seeds on the device to scores in host memory
  complete_call,  ///< from seeds in host memory to scores in host memory
  every_point,    ///< and then the place of every fibre after every step, as the paper's program stores them
};

enum class seed_region {
  white_matter,  ///< anywhere
  callosum,      ///< in the corpus callosum; a single direction per seed is random, as in van Aart 2011
};

struct brain_run {
  geodesic::ray_form form;
  geodesic::interpolation reading;
  geodesic::integrator method;
  std::size_t seeds;
  std::uint32_t directions;  ///< directions per seed over the sphere; 1 is the main eigenvector
  timed_part part = timed_part::scoring;
  seed_region region = seed_region::white_matter;
};

/// Fibres from random positions in a brain's white matter until they leave the brain or form a loop, at most 250 mm, in
/// steps of a fifth of the smallest voxel side. Geodesics are one ray; streamlines two, with the program's stopping
/// rules. Verified: every fibre has a reason to end; the first 5 mm of 64 fibres agree with the double-precision
/// reference. Counts the steps taken. Throws no_data.
std::unique_ptr<problem> make_brain_problem(const device& d, const brain_run& how);

}  // namespace voxherd::bench
