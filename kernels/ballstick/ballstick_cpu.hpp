#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/ballstick/measurements.hpp"
#include "kernels/ballstick/sampler.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/cpu_team.hpp"
#include "kernels/portable/gradient_table.hpp"

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

  cpu_scratch(std::size_t slots, int fibres) : arrays(slots * static_cast<std::size_t>(4 + 2 * fibres)) {}

  std::vector<real> arrays;
  std::vector<real> own_table;  ///< five columns, if gradients deviate
  chain_scratch chain;
};

/// Samples one voxel on the calling thread.
template <int Fibres>
void run_cpu_chain(const settings& s, const chain_settings& c, const cpu_measurements& m, const float* start,
                   std::uint64_t voxel, cpu_scratch& scratch, float* samples, float* acceptance);

/// Least-squares starts on the CPU. One object per thread, because it owns scratch memory.
class cpu_start_fitter {
 public:
  virtual ~cpu_start_fitter() = default;

  /// `signals`: K. `deviation`: nine numbers of the gradient deviation (FSL's volume order, column-wise), or null.
  /// `start`: in parameter_layout's order. Returns the sum of squared residuals, squared unit of the signal.
  virtual double fit(const float* signals, const float* deviation, float* start) = 0;
};

std::unique_ptr<cpu_start_fitter> make_cpu_start_fitter(const settings& s, const gradient_table& gradients);

}  // namespace voxherd::ballstick
