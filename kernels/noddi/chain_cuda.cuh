#pragma once

#include "kernels/device/cuda_check.cuh"
#include "kernels/noddi/chain_model.hpp"

namespace voxherd::noddi {

/// Measurements per lane if a voxel's state is in registers: 8, 16 or 32 lanes per voxel cover up to 72, 144 and 288.
constexpr int register_slots = 9;
constexpr int chain_block_threads = 128;
constexpr int chain_blocks_per_sm = 4;  ///< limits registers to 128 per thread

/// How a voxel's K measurements are divided among lanes.
struct chain_shape {
  int width;          ///< lanes per voxel
  int slots;          ///< measurements per lane
  bool in_registers;  ///< else in shared memory
  int padded() const { return width * slots; }
};

inline chain_shape shape_for(int measurements) {
  for (const int width : {8, 16, 32}) {
    if (measurements <= width * register_slots) return {width, register_slots, true};
  }
  return {32, (measurements + 31) / 32, false};
}

/// A measurement of the table that all voxels share.
struct chain_direction {
  float x, y, z;
  int first;  ///< coefficient of its shell in a row of the table
};

/// All pointers are to device memory.
struct chain_job {
  chain_settings settings;
  int terms;
  bool rician;
  int width, slots;
  int count;
  const chain_direction* directions;  ///< (padded)
  const float2* weightings;           ///< (padded): weighting, isotropic
  const float* signals;               ///< (count, padded)
  const float* starts;                ///< (count, max_parameters)
  const std::uint8_t* status;         ///< (count)
  const std::uint64_t* voxels;        ///< (count)
  float* samples;                     ///< (count, parameter, sample)
  float* acceptance;                  ///< (count, max_parameters)
};

/// Queues the chains of a batch on `stream`.
void launch_chains(const chain_job& job, const chain_shape& shape, cudaStream_t stream);

}  // namespace voxherd::noddi
