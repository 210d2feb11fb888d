#pragma once

#include "kernels/perfusion/paper/block_fft_cuda.cuh"
#include "kernels/perfusion/paper/block_fft_model.hpp"

namespace voxherd::perfusion {

/// Threads that work on one voxel: a thread block, or one of two halves of a warp, which then is the block. The same
/// interface as thread_team; all threads of the block make every call. `partial` is shared: one number per
/// warp.
template <int Width>
struct cuda_voxel_team {
  static_assert(Width == 16 || Width % 32 == 0);
  static constexpr int block_threads = Width < 32 ? 32 : Width, teams = block_threads / Width;
  static constexpr int warps = block_threads / 32;

  double* partial;

  /// Index of this thread in its team, and of its team in the block.
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % Width; }
  __device__ static int number() { return static_cast<int>(threadIdx.x) / Width; }

  template <class Work>
  __device__ void share(int count, const Work& work) const {
    for (int i = lane(); i < count; i += Width) work(i);
  }

  /// The same bits for all: a butterfly adds the same pairs in every lane, and all add the warps in one order.
  __device__ double sum(double value) const {
#pragma unroll
    for (int apart = Width < 32 ? Width / 2 : 16; apart > 0; apart /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, apart);
    if constexpr (warps == 1) return value;
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    sync();
    double total = partial[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) total += partial[w];
    sync();
    return total;
  }

  __device__ void sync() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
};

/// Uses as many threads as the larger number of register FFTs of a row, rounded to complete warps or half a warp.
template <int Q, int P>
constexpr int block_fft_width() {
  constexpr int items = (Q + 1) * row_split_of(P).a_count;
  return items <= 16 ? 16 : (items + 31) / 32 * 32;
}

template <int Q, int P>
using block_fft_team = cuda_voxel_team<block_fft_width<Q, P>()>;

/// Blocks per processor: 16 warps, which leaves 128 registers per thread; 20 if a thread's FFTs are short.
template <int Q, int P>
inline constexpr int block_fft_resident =
    (row_split_of(P).a_count == 4 ? 640 : 512) / block_fft_team<Q, P>::block_threads;

using block_fft_machine = simplex<double, washout<2>::count>;

/// Shared memory of a team's fit.
template <int Q, int P>
struct block_fft_voxel {
  typename block_fft<double, Q, P>::memory memory;
  alignas(8) std::byte machine[sizeof(block_fft_machine)];
  double partial[block_fft_team<Q, P>::warps];
  float samples[Q * P];
  bool active;
};

/// The paper's simplex, one item per team. The simplex is in shared memory, as in the paper, and the team's first
/// thread does its steps: a copy in every thread would need as many registers as the transform. Two teams of one warp
/// stay in step: the one that ends first continues with evaluations that are not used.
template <int Q, int P>
__global__ void __launch_bounds__(block_fft_team<Q, P>::block_threads, block_fft_resident<Q, P>)
    block_fft_kernel(const __grid_constant__ block_fft_job job, block_fft_tables tables) {
  using team_type = block_fft_team<Q, P>;
  __shared__ block_fft_voxel<Q, P> all[team_type::teams];
  block_fft_voxel<Q, P>& own = all[team_type::number()];
  const team_type team{own.partial};
  const bool leads = team_type::lane() == 0;
  const fit_arrays& a = job.arrays;
  const std::size_t item = std::size_t{blockIdx.x} * team_type::teams + static_cast<std::size_t>(team_type::number());
  const std::size_t voxel = item < a.items() ? item % a.count : 0;
  const int from = item < a.items() ? static_cast<int>(item / a.count) : 0;

  const float* row = a.samples + voxel * static_cast<std::size_t>(a.frames);
  team.share(a.frames, [&](int i) { own.samples[i] = row[i]; });
  auto& machine = *reinterpret_cast<block_fft_machine*>(own.machine);
  if (leads) {
    double start[washout<2>::count];
    for (int i = 0; i < washout<2>::count; ++i)
      start[i] = a.p[static_cast<std::size_t>(from * washout<2>::count + i) * a.count + voxel];
    new (&machine) block_fft_machine(job.limits);
    machine.begin(true, start);
    own.active = item < a.items() && a.status[voxel] == 0;
  }
  team.sync();

  const block_fft_model<double, Q, P, discretisation_kind::paper> model(job.curves, tables);
  while (all[0].active || all[team_type::teams - 1].active) {
    double p[washout<2>::count];
#pragma unroll
    for (int i = 0; i < washout<2>::count; ++i) p[i] = machine.trial()[i];
    const double cost = model.cost(team, own.memory, p, {own.samples, 1});
    if (leads && own.active && machine.tell(cost)) {
      keep_item<washout<2>::count>(machine, 0, a, from, voxel);
      own.active = false;
    }
    team.sync();
  }
}

template <int P>
void launch_block_fft(int q, const block_fft_tables& t, const block_fft_job& job, cudaStream_t stream) {
  const auto launch = [&]<int Q>() {
    using team_type = block_fft_team<Q, P>;
    launch_items(block_fft_kernel<Q, P>, job.arrays.items(), team_type::teams, {team_type::block_threads}, stream, job,
                 t);
  };
#define VOXHERD_SHAPE(Q, RowLength) \
  if constexpr (RowLength == P)     \
    if (q == Q) launch.template operator()<Q>();
  VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
}

}  // namespace voxherd::perfusion
