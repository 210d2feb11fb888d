#pragma once

#include "kernels/perfusion/block_fft_cuda.cuh"
#include "kernels/perfusion/block_fft_model.hpp"
#include "kernels/perfusion/cuda_voxel_team.cuh"

namespace voxherd::perfusion {

/// As many threads as there are register FFTs in a step, in whole warps.
template <int Q, int P>
inline constexpr int block_fft_threads = ((Q + 1) * row_split_of(P).a_count + 31) / 32 * 32;

/// The paper's simplex for one item a block. The simplex lies in shared memory, as the paper's, and the first thread
/// takes its steps: held by every thread it would take as many registers as the transform.
template <int Q, int P>
__global__ void __launch_bounds__(block_fft_threads<Q, P>)
    block_fft_kernel(const __grid_constant__ cuda_fit_job<double> job, block_fft_tables tables) {
  using model_type = block_fft_model<double, Q, P, discretisation_kind::paper>;
  using team_type = cuda_voxel_team<block_fft_threads<Q, P>>;
  __shared__ typename model_type::memory memory;
  __shared__ float samples[Q * P];
  __shared__ double partial[team_type::warps];
  __shared__ __align__(8) std::byte place_of_machine[sizeof(simplex<double>)];
  __shared__ bool ended;
  const fit_arrays& a = job.arrays;
  const std::size_t item = blockIdx.x, voxel = item % a.count;
  const int from = static_cast<int>(item / a.count);
  if (a.status[voxel] != 0) return;

  const team_type team{partial};
  const float* row = a.samples + voxel * static_cast<std::size_t>(a.frames);
  team.share(a.frames, [&](int i) { samples[i] = row[i]; });
  auto& machine = *reinterpret_cast<simplex<double>*>(place_of_machine);
  if (threadIdx.x == 0) {
    double start[parameter_count];
    for (int i = 0; i < parameter_count; ++i)
      start[i] = a.p[static_cast<std::size_t>(from * parameter_count + i) * a.count + voxel];
    new (&machine) simplex<double>(job.limits);
    machine.begin(true, start);
    ended = false;
  }
  team.sync();

  const model_type model(job.curves, tables);
  while (!ended) {
    double p[parameter_count];
#pragma unroll
    for (int i = 0; i < parameter_count; ++i) p[i] = machine.trial()[i];
    const double cost = model.cost(team, memory, p, {samples, 1});
    if (threadIdx.x == 0) ended = machine.tell(cost);
    team.sync();
  }
  if (threadIdx.x == 0) keep_item(machine, 0, a, from, voxel);
}

template <int P>
void launch_block_fft(int q, const block_fft_tables& t, const cuda_fit_job<double>& job, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(job.arrays.items());
#define VOXHERD_SHAPE(Q, RowLength) \
  if constexpr (RowLength == P)     \
    if (q == Q) block_fft_kernel<Q, P><<<blocks, block_fft_threads<Q, P>, 0, stream>>>(job, t);
  VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
}

}  // namespace voxherd::perfusion
