#pragma once

#include <vector>

#include "kernels/ballstick/backends.hpp"
#include "kernels/ballstick/cpu_measurements.hpp"

namespace voxherd::ballstick {

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
