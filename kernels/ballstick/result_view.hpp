#pragma once

#include <cstdint>

#include "kernels/ballstick/settings.hpp"

namespace voxherd::ballstick {

/// Places in result_view::values: one a quantity, then a group for each fibre.
enum field_id : int {
  mean_s0,
  mean_d,
  mean_d_std,
  mean_ratio,
  mean_f0,
  mean_tau,
  mean_f_sum,
  acceptance,  ///< one a parameter, in layout_of()'s order
  samples_s0,
  samples_d,
  samples_d_std,
  samples_ratio,
  samples_f0,
  samples_tau,
  first_fibre_field,
};

enum fibre_field_id : int { mean_f, dyads, dispersion, samples_th, samples_ph, samples_f, fibre_field_count };

constexpr int field_count = first_fibre_field + fibre_field_count * max_fibres;

VOXHERD_FUNCTION constexpr int fibre_field(int k, fibre_field_id id) {
  return first_fibre_field + k * fibre_field_count + id;
}

/// Where a batch's results go: for each field count x width floats, or null.
struct result_view {
  float* values[field_count] = {};
  std::uint8_t* status = nullptr;  ///< voxel_status; all else is zero where it is not `fitted`
};

}  // namespace voxherd::ballstick
