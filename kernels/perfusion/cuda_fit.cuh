#pragma once

#include <cuda_pipeline_primitives.h>

#include "kernels/device/launch.cuh"
#include "kernels/perfusion/lane_fit.hpp"

/// The fit stage on a GPU: one item per thread, persistent threads that take item after item.
namespace voxherd::perfusion {

/// Arguments of a fit kernel. The curves of all voxels are copied to shared memory first.
template <class Scalar, int Count>
struct cuda_fit_job {
  fit_arrays arrays;
  curves_view<Scalar> curves;
  const Scalar* values;  ///< the memory that the view points to, `value_count` numbers
  int value_count;
  fit_limits<Scalar, Count> limits;
  float* scratch;  ///< [frame][thread], if series are too long for shared memory; else null
  unsigned long long* begun;
};

/// The curves in a block's shared memory, copied there by its threads.
template <class Scalar>
struct shared_curves {
  static constexpr std::size_t bytes(int value_count, int frames) {
    const std::size_t all = static_cast<std::size_t>(value_count) * sizeof(Scalar) + static_cast<std::size_t>(frames);
    return (all + 15) / 16 * 16;
  }

  __device__ static curves_view<Scalar> copy(const curves_view<Scalar>& from, const Scalar* values, int value_count,
                                             std::byte* to) {
    auto* numbers = reinterpret_cast<Scalar*>(to);
    auto* counts = reinterpret_cast<std::uint8_t*>(numbers + value_count);
    for (int i = static_cast<int>(threadIdx.x); i < value_count; i += static_cast<int>(blockDim.x))
      numbers[i] = values[i];
    for (int i = static_cast<int>(threadIdx.x); i < from.frames; i += static_cast<int>(blockDim.x))
      counts[i] = from.counts[i];
    __syncthreads();
    curves_view<Scalar> v = from;
    v.arterial = numbers + (from.arterial - values);
    v.portal = numbers + (from.portal - values);
    if (from.time_s != nullptr) v.time_s = numbers + (from.time_s - values);
    v.counts = counts;
    return v;
  }
};

/// Begins to copy a number from global to shared memory: a thread begins all its copies before it waits for them.
__device__ inline void begin_copy(float* shared, const float* global) {
  __pipeline_memcpy_async(shared, global, sizeof(float));
}
__device__ inline void end_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// Odd, so that the same frame of a warp's rows is in 32 different banks.
VOXHERD_FUNCTION constexpr int odd_stride(int frames) { return frames | 1; }

inline constexpr int fit_block = 128;
/// Longer series are read from global memory: in shared memory they would leave too few threads per processor.
inline constexpr int max_shared_frames = 160;

/// Memory for the samples of all threads that a fit kernel may have; 0 if they are in shared memory.
inline std::size_t scratch_floats(int frames) {
  if (frames <= max_shared_frames) return 0;
  return std::size_t{2048} * static_cast<std::size_t>(processors_of_device()) * static_cast<std::size_t>(frames);
}

/// Queues the fits of all items. One unit per model, solver and precision: kernels/CMakeLists.txt.
template <class Tissue, solver_kind Solver, class Scalar>
void launch_fits(const fit_settings& s, const cuda_fit_job<Scalar, parameter_count<Tissue>>& job, cudaStream_t stream);

}  // namespace voxherd::perfusion
