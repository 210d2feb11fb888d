#pragma once

#include <vector>

#include "kernels/ballstick/chain_types.hpp"
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

/// One thread's memory for one voxel at a time, in complete SIMD registers.
struct cpu_scratch {
  using real = cpu_team<float>::real;

  cpu_scratch(std::size_t measurements, int fibres, int parameters, int samples)
      : slots(static_cast<int>((measurements + real::size() - 1) / real::size())),
        signals(static_cast<std::size_t>(slots)),
        arrays(static_cast<std::size_t>(slots * (4 + 2 * fibres))),
        chain_samples(static_cast<std::size_t>(parameters * samples)) {}

  int slots;
  std::vector<real> signals;
  std::vector<real> arrays;
  std::vector<real> own_table;  ///< five columns, if gradients deviate
  std::vector<float> chain_samples;
  float acceptance[max_parameters];
  chain_scratch chain;
};

/// Samples one voxel on the calling thread: its results are left in the scratch.
template <int Fibres>
void run_cpu_chain(const settings& s, const chain_settings& c, const cpu_measurements& m, const float* start,
                   std::uint64_t voxel, cpu_scratch& scratch);

}  // namespace voxherd::ballstick
