#pragma once

#include "kernels/device/cuda_check.cuh"
#include "kernels/noddi/shell_steps.hpp"
#include "kernels/voxel_model/chain_shape.hpp"

namespace voxherd::noddi {

using voxel_model::chain_block_threads;
using voxel_model::chain_blocks_per_sm;
using voxel_model::chain_shape;
using voxel_model::kernel_shape;
using voxel_model::register_slots;
using voxel_model::shape_for;

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
  int parameters, sample_floats;      ///< of a voxel
  const chain_direction* directions;  ///< (padded)
  const float2* weightings;           ///< (padded): weighting, isotropic
  const float* signals;               ///< (count, padded)
  const float* starts;                ///< (count, parameters)
  const std::uint8_t* status;         ///< (count)
  const std::uint64_t* voxels;        ///< (count)
  float* samples;                     ///< (count, sample_floats)
  float* acceptance;                  ///< (count, parameters)
};

/// Queues the chains of a batch on `stream`.
void launch_chains(const chain_job& job, const chain_shape& shape, cudaStream_t stream);

}  // namespace voxherd::noddi
