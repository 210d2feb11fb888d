#pragma once

#include "kernels/ballstick/settings.hpp"
#include "kernels/device/cuda_check.cuh"

namespace voxherd::ballstick {

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
