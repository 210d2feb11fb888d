#pragma once

// The names of Random123 that are used, where its headers are missing (VOXHERD_USE_SYSTEM_RANDOM123).
#include "kernels/portable/philox.hpp"

#define PHILOX_M4x32_0 voxherd::philox::first_factor
#define PHILOX_M4x32_1 voxherd::philox::second_factor
#define PHILOX_W32_0 voxherd::philox::first_step
#define PHILOX_W32_1 voxherd::philox::second_step

using philox4x32_ctr_t = voxherd::philox::words;
using philox4x32_key_t = voxherd::philox::key;

VOXHERD_FUNCTION inline philox4x32_ctr_t philox4x32(philox4x32_ctr_t counter, philox4x32_key_t key) {
  return voxherd::philox::compute(counter, key);
}
