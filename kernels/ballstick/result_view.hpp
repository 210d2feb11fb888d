#pragma once

#include <cstdint>

#include "kernels/ballstick/settings.hpp"

namespace voxherd::ballstick {

/// Fields in result_view: one per quantity, then a group for each fibre, then the status. Names, units and meanings are
/// in list_outputs().
enum field_id : int {
  mean_s0,
  mean_d,
  mean_d_std,
  mean_ratio,
  mean_f0,
  mean_tau,
  mean_f_sum,
  acceptance,  ///< one value per parameter, in make_parameter_layout()'s order
  samples_s0,
  samples_d,
  samples_d_std,
  samples_ratio,
  samples_f0,
  samples_tau,
  first_fibre_field,
};

enum fibre_field_id : int { mean_f, dyads, dispersion, samples_th, samples_ph, samples_f, fibre_field_count };

constexpr int status_field = first_fibre_field + fibre_field_count * max_fibres;
constexpr int field_count = status_field + 1;

VOXHERD_FUNCTION constexpr int fibre_field(int k, fibre_field_id id) {
  return first_fibre_field + k * fibre_field_count + id;
}

/// Values per voxel of a field; one float each, except the status, a byte.
VOXHERD_FUNCTION constexpr int values_per_voxel(int id, const parameter_layout& layout, int samples) {
  if (id == acceptance) return layout.count;
  if (id >= samples_s0 && id <= samples_tau) return samples;
  if (id < first_fibre_field || id == status_field) return 1;
  const int own = (id - first_fibre_field) % fibre_field_count;
  return own == dyads ? 3 : own >= samples_th ? samples : 1;
}

/// Arrays of a batch's results by field, in host or device memory; null for a field that is not requested.
struct result_view {
  void* array[field_count] = {};

  VOXHERD_FUNCTION float* values(int id) const { return static_cast<float*>(array[id]); }
  /// voxel_status; everything else is zero if it is not `fitted`
  VOXHERD_FUNCTION std::uint8_t* status() const { return static_cast<std::uint8_t*>(array[status_field]); }
};

}  // namespace voxherd::ballstick
