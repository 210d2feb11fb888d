#pragma once

#include "kernels/ballstick/sampler.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/voxel_model/chain_shape.hpp"

namespace voxherd::ballstick {

using voxel_model::chain_block_threads;
using voxel_model::chain_blocks_per_sm;
using voxel_model::chain_shape;
using voxel_model::kernel_shape;
using voxel_model::register_slots;
using voxel_model::shape_for;

/// All pointers are to device memory.
struct chain_job {
  chain_settings settings;
  int width, slots;
  int count;
  const float4* directions;     ///< (padded): x, y, z, offset
  const float* weightings;      ///< (padded)
  const float* deviations;      ///< first voxel's nine numbers, or null
  int deviation_stride;         ///< floats from one voxel's to the next one's
  const float* signals;         ///< (count, padded)
  const float* starts;          ///< (count, max_parameters)
  const std::uint8_t* status;   ///< (count)
  const std::uint64_t* voxels;  ///< (count)
  float* samples;               ///< (count, row, sample)
  float* acceptance;            ///< (count, max_parameters)
};

/// Queues the chains of a batch on `stream`.
template <int Fibres>
void launch_chains(const settings& s, const chain_job& job, const chain_shape& shape, cudaStream_t stream);

/// All pointers are to device memory.
struct fit_job {
  int count;
  int measurements;            ///< K
  int padded;                  ///< floats from one voxel's signals to the next one's
  const float4* directions;    ///< (padded): x, y, z, offset of a weighted_direction
  const float* deviations;     ///< first voxel's nine numbers, or null
  int deviation_stride;        ///< floats from one voxel's to the next one's
  const float* signals;        ///< (count, padded)
  const std::uint8_t* status;  ///< (count): only voxels with 0 are fitted
  float* starts;               ///< (count, start_stride), parameter_layout's order
  int start_stride;
};

/// Queues the least-squares starts of a batch on `stream`.
template <int Fibres>
void launch_fits(const settings& s, const fit_job& job, cudaStream_t stream);

}  // namespace voxherd::ballstick
