#pragma once

#include "kernels/ballstick/measurements.hpp"
#include "kernels/portable/cpu_team.hpp"

namespace voxherd::ballstick {

/// One voxel's data for a cpu_team: columns of SIMD registers in the thread's memory.
struct cpu_measurements {
  using real = cpu_team<float>::real;
  int slot_count;
  const real* signals;
  const real *x, *y, *z, *offset, *weightings;

  int slots() const { return slot_count; }
  real signal(int s) const { return signals[s]; }
  weighted_direction<real> direction(int s) const { return {x[s], y[s], z[s], offset[s]}; }
  real weighting(int s) const { return weightings[s]; }
};

}  // namespace voxherd::ballstick
