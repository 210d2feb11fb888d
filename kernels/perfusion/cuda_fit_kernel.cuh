#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/perfusion/cuda_fit.cuh"
#include "kernels/perfusion/lane_fit.hpp"

/// The kernels of the fit stage: one item per thread, persistent threads that take item after item.
namespace voxherd::perfusion {

/// The threads of a warp (see fit_on_lanes). They stay together to the end: each evaluation is for all of them.
/// InShared: the samples are in the block's shared memory; else in the job's scratch memory.
template <class Scalar, int Count, bool InShared>
class warp_lanes {
 public:
  using job = cuda_fit_job<Scalar, Count>;

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
  /// The other threads wait while a thread starts an item, so one of `part` threads must have ended theirs.
  __device__ bool enough(bool waiting, bool active, int part) const {
    const int wait = __popc(__ballot_sync(all_lanes, waiting));
    return wait > 0 && part * wait >= wait + __popc(__ballot_sync(all_lanes, active));
  }
  __device__ voxel_samples samples() const { return {first_, stride()}; }
  __device__ const Scalar (&start() const)[Count] { return start_; }

  __device__ bool take(bool waiting, bool& none_left) {
    const fit_arrays& a = job_.arrays;
    bool fresh = false;
    // Set in all threads: otherwise registers would keep them during the fit.
    VOXHERD_UNROLL
    for (Scalar& s : start_) s = Scalar(0);
    while (any(waiting)) {  // mostly once: few voxels are not fitted
      if (waiting) next_item();
      if (waiting && item_ >= a.items()) none_left = true;
      waiting = waiting && !none_left;
      // All reads of an item are under way at the same time, before its status is known.
      begin_samples(waiting);
      if (waiting) {
        fresh = a.status[item_ % a.count] == 0;
        VOXHERD_UNROLL
        for (int i = 0; i < Count; ++i) start_[i] = static_cast<Scalar>(a.p[place(i)]);
        waiting = !fresh;
      }
      if constexpr (InShared) end_copies();
      __syncwarp();
    }
    return fresh;
  }

  template <class Machine>
  __device__ void keep(bool ended, const Machine& machine) {
    const fit_arrays& a = job_.arrays;
    if (ended) keep_item<Count>(machine, 0, a, static_cast<int>(item_ / a.count), item_ % a.count);
  }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;

  __device__ int stride() const { return InShared ? 1 : static_cast<int>(threads_); }
  __device__ int step_to_next() const { return InShared ? odd_stride(job_.arrays.frames) : 1; }

  __device__ std::size_t place(int i) const {
    const fit_arrays& a = job_.arrays;
    return (item_ / a.count * Count + static_cast<std::size_t>(i)) * a.count + item_ % a.count;
  }

  __device__ void next_item() {
    if (!first_item_) item_ = threads_ + atomicAdd(job_.begun, 1ull);
    first_item_ = false;
  }

  /// The complete warp copies each new row: neighbouring threads, neighbouring frames.
  __device__ void begin_samples(bool taken) {
    const fit_arrays& a = job_.arrays;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto voxel = static_cast<unsigned>(taken ? item_ % a.count : 0);
    for (unsigned left = __ballot_sync(all_lanes, taken); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const float* from =
          a.samples + std::size_t{__shfl_sync(all_lanes, voxel, owner)} * static_cast<std::size_t>(a.frames);
      float* to = first_ + (owner - lane) * step_to_next();
      for (int f = lane; f < a.frames; f += 32) {
        if constexpr (InShared) {
          begin_copy(to + f, from + f);
        } else {
          to[static_cast<std::ptrdiff_t>(f) * stride()] = from[f];
        }
      }
    }
  }

  const job& job_;
  std::size_t item_, threads_;
  float* first_;  ///< this thread's samples
  bool first_item_ = true;
  Scalar start_[Count] = {};
};

/// The vertices of a thread's simplex, like register_vertices: the worst in registers, the others in the shared memory
/// of the block, where only their order changes, but for exchanges with the worst. Registers are then free for the
/// cost's reads.
template <class Number, int Count, int Threads>
class shared_vertices {
 public:
  static constexpr int worst = Count;
  static constexpr std::size_t bytes = sizeof(Number) * worst * Count * Threads;  ///< of a block

  /// Sets all to 0: a thread without an item computes with them.
  __device__ explicit shared_vertices(Number* of_block) : own_(of_block + threadIdx.x) {
    for (int i = 0; i < worst * Count; ++i) own_[i * Threads] = 0;
  }

  __device__ void begin(bool fresh) { order_ = fresh ? sorted : order_; }
  __device__ const Number& at(int v, int i) const { return v == worst ? worst_[i] : placed(v)[i * Threads]; }
  __device__ void set(bool which, int v, int i, Number value) {
    if (!which) return;
    (v == worst ? worst_[i] : placed(v)[i * Threads]) = value;
  }
  __device__ void move_worst(const bool (&before)[worst]) {
    if (!before[worst - 1]) return;
    int to = worst;
    VOXHERD_UNROLL
    for (int v = 0; v < worst; ++v) to -= before[v] ? 1 : 0;
    swap_worst(worst - 1);
    const unsigned swapped = order_ >> bits * (worst - 1), kept = order_ & first_places(to);
    const unsigned behind = (order_ ^ kept) & first_places(worst - 1);
    order_ = kept | swapped << bits * to | behind << bits;
  }
  __device__ void reverse(bool which, int first) {
    if (!which || first == worst) return;
    swap_worst(first);
    unsigned reversed = order_ & first_places(first + 1);
    for (int v = first + 1; v < worst; ++v) reversed |= place(v) << bits * (first + worst - v);
    order_ = reversed;
  }

 private:
  static constexpr int bits = 3;  ///< of a place
  static_assert(worst <= 1 << bits && worst * bits <= 32);
  static constexpr unsigned list_places() {
    unsigned places = 0;
    for (unsigned v = 0; v < worst; ++v) places |= v << bits * v;
    return places;
  }
  static constexpr unsigned sorted = list_places();

  __device__ static unsigned first_places(int count) { return (1u << bits * count) - 1; }
  __device__ unsigned place(int v) const { return order_ >> bits * v & 7u; }
  __device__ Number* placed(int v) const { return own_ + place(v) * (Count * Threads); }
  __device__ void swap_worst(int v) {
    Number* const other = placed(v);
    VOXHERD_UNROLL
    for (int i = 0; i < Count; ++i) {
      const Number x = other[i * Threads];
      other[i * Threads] = worst_[i];
      worst_[i] = x;
    }
  }

  Number* own_;
  Number worst_[Count] = {};
  unsigned order_ = sorted;  ///< the places of the vertices but the worst, the best first
};

template <int Count>
using shared_simplex = simplex<double, Count, shared_vertices<double, Count, fit_block>>;

/// Blocks per processor, which limit a thread's registers (3: 168, 4: 128, 5: 96).
template <class Machine>
inline constexpr int resident_fits = 3;
template <int Count, class Vertices>
inline constexpr int resident_fits<simplex<double, Count, Vertices>> = 4;
template <int Count, class Vertices>
inline constexpr int resident_fits<simplex<float, Count, Vertices>> = 5;

/// Shared memory for the machines of a block.
template <class Machine>
inline constexpr std::size_t machine_bytes = 0;
template <int Count>
inline constexpr std::size_t machine_bytes<shared_simplex<Count>> = shared_vertices<double, Count, fit_block>::bytes;

template <class Machine>
using job_of = cuda_fit_job<typename Machine::scalar, Machine::count>;

template <class Machine>
__device__ Machine make_machine(const fit_limits<typename Machine::scalar, Machine::count>& limits, std::byte* shared) {
  if constexpr (machine_bytes<Machine> == 0)
    return Machine(limits);
  else
    return Machine(limits, shared_vertices<double, Machine::count, fit_block>(reinterpret_cast<double*>(shared)));
}

template <class Machine, class Model, int Block, bool InShared>
__global__ void __launch_bounds__(Block, resident_fits<Machine>)
    fit_kernel(const __grid_constant__ job_of<Machine> job) {
  using scalar = typename Machine::scalar;
  extern __shared__ __align__(16) std::byte shared[];
  const curves_view<scalar> curves = shared_curves<scalar>::copy(job.curves, job.values, job.value_count, shared);
  std::byte* const of_machines = shared + shared_curves<scalar>::bytes(job.value_count, curves.frames);
  auto* samples = reinterpret_cast<float*>(of_machines + machine_bytes<Machine>);
  warp_lanes<scalar, Machine::count, InShared> lanes(job, samples);
  fit_on_lanes(make_machine<Machine>(job.limits, of_machines), Model(curves), lanes);
}

/// Shared memory of a block.
template <class Machine, bool InShared>
std::size_t fit_bytes(const job_of<Machine>& job) {
  using scalar = typename Machine::scalar;
  const int frames = job.arrays.frames;
  const std::size_t bytes = shared_curves<scalar>::bytes(job.value_count, frames) + machine_bytes<Machine>;
  return InShared ? bytes + std::size_t{fit_block} * static_cast<std::size_t>(odd_stride(frames)) * sizeof(float)
                  : bytes;
}

template <class Machine, class Model, bool InShared>
void launch_fit_from(const job_of<Machine>& job, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<job_of<Machine>>);
  const auto kernel = fit_kernel<Machine, Model, fit_block, InShared>;
  const block_shape shape{fit_block, fit_bytes<Machine, InShared>(job)};
  const std::size_t wanted = (job.arrays.items() + fit_block - 1) / fit_block;
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(job.begun, 0, sizeof *job.begun, stream));
  launch_blocks(kernel, std::min(wanted, resident_blocks(kernel, shape)), shape, stream, job);
}

template <class Machine, class Model>
void launch_fit(const job_of<Machine>& job, cudaStream_t stream) {
  if (job.scratch == nullptr) return launch_fit_from<Machine, Model, true>(job, stream);
  launch_fit_from<Machine, Model, false>(job, stream);
}

template <class Tissue, solver_kind Solver, class Scalar>
void launch_fits(const fit_settings& s, const cuda_fit_job<Scalar, parameter_count<Tissue>>& job, cudaStream_t stream) {
  constexpr int count = parameter_count<Tissue>;
  const bool even_frames = job.curves.spacing_s > 0;
  if constexpr (Solver == solver_kind::simplex) {
    with_cost_model<Tissue, Scalar>(s, even_frames, [&]<class Model>() {
      // A float's vertices have room in registers, and long series need the shared memory themselves.
      if constexpr (is_double<Scalar>)
        if (job.scratch == nullptr && blocks_with_room(fit_bytes<shared_simplex<count>, true>(job)) >= 2)
          return launch_fit_from<shared_simplex<count>, Model, true>(job, stream);
      launch_fit<simplex<Scalar, count>, Model>(job, stream);
    });
  } else {
    using machine =
        std::conditional_t<Solver == solver_kind::varpro, varpro<Tissue, Scalar>, levenberg<Tissue, Scalar>>;
    with_model<Tissue, Scalar>(s, even_frames, [&]<class Model>() { launch_fit<machine, Model>(job, stream); });
  }
}

}  // namespace voxherd::perfusion
