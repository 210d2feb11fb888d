#pragma once

#include "kernels/ballstick/sampler.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/device/cuda_check.cuh"

namespace voxherd::ballstick {

/// Measurements per lane if a voxel's state is in registers: 8, 16 or 32 lanes per voxel cover up to 72, 144 and 288.
constexpr int register_slots = 9;
constexpr int chain_block_threads = 128;
constexpr int chain_blocks_per_sm = 4;  ///< limits registers to 128 per thread: more spill, fewer leave warps idle

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
  float* samples;               ///< (count, parameter, sample)
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
