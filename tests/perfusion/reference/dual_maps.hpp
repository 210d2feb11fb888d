#pragma once

#include "kernels/perfusion/models.hpp"

namespace voxherd::perfusion {

using dual_outputs = output_arrays_of<dual_model>;

/// The maps of the dual model by name: places in its table of outputs.
enum dual_map : int {
  map_kl = dual_outputs::place<"kl">(),
  map_ka,
  map_kp,
  map_tau_a,
  map_tau_p,
  sd_kl = dual_outputs::place<"sd_kl">(),
  sd_ka,
  sd_kp,
  sd_tau_a,
  sd_tau_p,
  arterial_fraction = dual_outputs::place<"arterial_fraction">(),
  total_perfusion = dual_outputs::place<"total_perfusion">(),
  distribution_volume = dual_outputs::place<"distribution_volume">(),
  mean_transit_time = dual_outputs::place<"mean_transit_time">(),
  sum_of_squares = dual_outputs::place<"sum_of_squares">(),
  r_squared = dual_outputs::place<"r_squared">(),
  t1_before = dual_outputs::place<"t1_before">(),
  baseline_signal = dual_outputs::place<"baseline_signal">(),
  map_count
};

}  // namespace voxherd::perfusion
