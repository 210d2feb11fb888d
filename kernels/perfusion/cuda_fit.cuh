#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/perfusion/backends.hpp"
#include "kernels/perfusion/lane_fit.hpp"

/// The fit stage on a GPU: one item per thread, persistent threads that take item after item.
namespace voxherd::perfusion {

/// Arguments of a fit kernel. The curves of all voxels are copied to shared memory first.
template <class Scalar>
struct cuda_fit_job {
  fit_arrays arrays;
  curves_view<Scalar> curves;
  const Scalar* values;  ///< the memory that the view points to, `value_count` numbers
  int value_count;
  fit_limits<Scalar> limits;
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

/// Odd, so that the same frame of a warp's rows is in 32 different banks.
VOXHERD_FUNCTION constexpr int odd_stride(int frames) { return frames | 1; }

/// The threads of a warp (see fit_on_lanes). They stay together to the end: each evaluation is for all of them.
/// InShared: the samples are in the block's shared memory; else in the job's scratch memory.
template <class Scalar, bool InShared>
class warp_lanes {
 public:
  using job = cuda_fit_job<Scalar>;

  __device__ warp_lanes(const job& j, float* block_samples)
      : job_(j),
        item_(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x),
        threads_(std::size_t{gridDim.x} * blockDim.x) {
    if constexpr (InShared) {
      first_ = block_samples + static_cast<int>(threadIdx.x) * step_to_next();
    } else {
      first_ = j.scratch + item_;
    }
  }

  __device__ bool any(bool value) const { return __any_sync(all_lanes, value) != 0; }
  /// The other threads wait while a thread starts an item, so a quarter of them start at a time.
  __device__ bool enough(bool waiting, bool active) const {
    const int wait = __popc(__ballot_sync(all_lanes, waiting));
    return wait > 0 && 4 * wait >= wait + __popc(__ballot_sync(all_lanes, active));
  }
  __device__ voxel_samples samples() const { return {first_, stride()}; }
  __device__ const Scalar (&start() const)[parameter_count] { return start_; }

  __device__ bool take(bool waiting, bool& none_left) {
    const fit_arrays& a = job_.arrays;
    const std::size_t items = a.items();
    if (waiting) {
      do {
        if (!first_item_) item_ = threads_ + atomicAdd(job_.begun, 1ull);
        first_item_ = false;
      } while (item_ < items && a.status[item_ % a.count] != 0);
      none_left = item_ >= items;
    }
    const bool fresh = waiting && !none_left;
    copy_samples(fresh);
    if (fresh) {
      VOXHERD_UNROLL
      for (int i = 0; i < parameter_count; ++i) start_[i] = static_cast<Scalar>(a.p[place(i)]);
    }
    return fresh;
  }

  template <class Machine>
  __device__ void keep(bool ended, const Machine& machine) {
    const fit_arrays& a = job_.arrays;
    if (ended) keep_item(machine, 0, a, static_cast<int>(item_ / a.count), item_ % a.count);
  }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;

  __device__ int stride() const { return InShared ? 1 : static_cast<int>(threads_); }
  __device__ int step_to_next() const { return InShared ? odd_stride(job_.arrays.frames) : 1; }

  __device__ std::size_t place(int i) const {
    const fit_arrays& a = job_.arrays;
    return (item_ / a.count * parameter_count + static_cast<std::size_t>(i)) * a.count + item_ % a.count;
  }

  /// The complete warp copies each new row: neighbouring threads, neighbouring frames.
  __device__ void copy_samples(bool fresh) {
    const fit_arrays& a = job_.arrays;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto voxel = static_cast<unsigned>(fresh ? item_ % a.count : 0);
    for (unsigned left = __ballot_sync(all_lanes, fresh); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const float* from =
          a.samples + std::size_t{__shfl_sync(all_lanes, voxel, owner)} * static_cast<std::size_t>(a.frames);
      float* to = first_ + (owner - lane) * step_to_next();
      for (int f = lane; f < a.frames; f += 32) to[static_cast<std::ptrdiff_t>(f) * stride()] = from[f];
    }
    __syncwarp();
  }

  const job& job_;
  std::size_t item_, threads_;
  float* first_;  ///< this thread's samples
  bool first_item_ = true;
  Scalar start_[parameter_count] = {};
};

template <class Machine, class Model, int Block, bool InShared>
__global__ void __launch_bounds__(Block, 3)
    fit_kernel(const __grid_constant__ cuda_fit_job<typename Machine::scalar> job) {
  using scalar = typename Machine::scalar;
  extern __shared__ __align__(16) std::byte shared[];
  const curves_view<scalar> curves = shared_curves<scalar>::copy(job.curves, job.values, job.value_count, shared);
  auto* samples = reinterpret_cast<float*>(shared + shared_curves<scalar>::bytes(job.value_count, curves.frames));
  warp_lanes<scalar, InShared> lanes(job, samples);
  fit_on_lanes(Machine(job.limits), Model(curves), lanes);
}

inline constexpr int fit_block = 128;
/// Longer series are read from global memory: in shared memory they would leave too few threads per processor.
inline constexpr int max_shared_frames = 160;

/// Memory for the samples of all threads that a fit kernel may have; 0 if they are in shared memory.
inline std::size_t scratch_floats(int frames) {
  if (frames <= max_shared_frames) return 0;
  return std::size_t{2048} * static_cast<std::size_t>(processors_of_device()) * static_cast<std::size_t>(frames);
}

template <class Machine, class Model, bool InShared>
void launch_fit_from(const cuda_fit_job<typename Machine::scalar>& job, cudaStream_t stream) {
  using scalar = typename Machine::scalar;
  static_assert(std::is_trivially_copyable_v<cuda_fit_job<scalar>>);
  const auto kernel = fit_kernel<Machine, Model, fit_block, InShared>;
  std::size_t bytes = shared_curves<scalar>::bytes(job.value_count, job.arrays.frames);
  if (InShared)
    bytes += std::size_t{fit_block} * static_cast<std::size_t>(odd_stride(job.arrays.frames)) * sizeof(float);
  const block_shape shape{fit_block, bytes};
  const std::size_t wanted = (job.arrays.items() + fit_block - 1) / fit_block;
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(job.begun, 0, sizeof *job.begun, stream));
  launch_blocks(kernel, std::min(wanted, resident_blocks(kernel, shape)), shape, stream, job);
}

template <class Machine, class Model>
void launch_fit(const cuda_fit_job<typename Machine::scalar>& job, cudaStream_t stream) {
  if (job.scratch == nullptr) return launch_fit_from<Machine, Model, true>(job, stream);
  launch_fit_from<Machine, Model, false>(job, stream);
}

/// Launches the kernel of these settings: one file each, so that they compile in parallel.
void launch_simplex(const fit_settings& s, const cuda_fit_job<double>& job, cudaStream_t stream);
void launch_simplex(const fit_settings& s, const cuda_fit_job<float>& job, cudaStream_t stream);
void launch_levenberg(const fit_settings& s, const cuda_fit_job<double>& job, cudaStream_t stream);
void launch_levenberg(const fit_settings& s, const cuda_fit_job<float>& job, cudaStream_t stream);
void launch_varpro(const fit_settings& s, const cuda_fit_job<double>& job, cudaStream_t stream);

}  // namespace voxherd::perfusion
