#pragma once

#include "kernels/ballstick/cuda_jobs.cuh"
#include "kernels/ballstick/fit_engine.hpp"
#include "kernels/ballstick/fitter.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/portable/cuda_team.cuh"
#include "kernels/voxel_model/normal_equations_cuda.cuh"

namespace voxherd::ballstick {

constexpr int fit_block_warps = 1;     ///< a block ends with its slowest voxel
constexpr int fit_blocks_per_sm = 16;  ///< double-precision chains are long: warps hide them better than registers

/// One voxel's measurements for a warp, from the chains' table: there directions have the length sqrt(b log2(e)), b in
/// s/mm2.
struct cuda_fit_measurements {
  const fit_job& job;
  int item, lane;

  __device__ int count() const { return job.measurements; }
  __device__ int slots() const { return (job.measurements + 31) / 32; }

  __device__ void load(int slot, double (&q)[3], double& signal, double& weight) const {
    const int i = 32 * slot + lane;
    const bool inside = i < job.measurements;
    const float4 d = inside ? job.directions[i] : float4{0, 0, 0, 0};
    const double unit = std::sqrt(fitting::ms_per_um2 / 1.4426950408889634);
    const double g[3] = {unit * d.x, unit * d.y, unit * d.z};
#pragma unroll
    for (int line = 0; line < 3; ++line) {
      q[line] = g[line];
      if (job.deviations != nullptr) {
        const float* const deviation = job.deviations + static_cast<std::size_t>(item) * job.deviation_stride;
#pragma unroll
        for (int column = 0; column < 3; ++column) q[line] += deviation[3 * column + line] * g[column];
      }
    }
    signal = inside ? job.signals[static_cast<std::size_t>(item) * job.padded + i] : 0;
    weight = inside ? 1 : 0;
  }
};

/// One warp per voxel, so that all lanes of a warp have the same loop lengths, which depend on the data.
template <diffusion_model Model, int Fibres, bool Unattenuated>
__global__ void __launch_bounds__(32 * fit_block_warps, fit_blocks_per_sm)
    fit_kernel(const fit_job job, noise_model noise, double ratio) {
  using team_type = cuda_team<double, 32>;
  __shared__ fitting::scratch<team_type, fitting::shape<Model, Fibres, Unattenuated>> scratch[fit_block_warps];
  const team_type team;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int item = static_cast<int>(blockIdx.x) * fit_block_warps + warp;
  if (item >= job.count || job.status[item] != 0) return;
  const cuda_fit_measurements m{job, item, team.lane};
  const auto result = fit_voxel<Model, Fibres, Unattenuated>(team, m, ratio, scratch[warp]);
  team.once([&] {
    store_start<Model, Fibres, Unattenuated>(result, noise, ratio,
                                             job.starts + static_cast<std::size_t>(item) * job.start_stride);
  });
}

template <diffusion_model Model, int Fibres>
void launch_fit_kernel(const settings& s, const fit_job& job, cudaStream_t stream) {
  const auto kernel = s.unattenuated ? fit_kernel<Model, Fibres, true> : fit_kernel<Model, Fibres, false>;
  launch_items(kernel, static_cast<std::size_t>(job.count), fit_block_warps, {32 * fit_block_warps}, stream, job,
               s.noise, static_cast<double>(s.ratio_mean));
}

template <int Fibres>
void launch_fits(const settings& s, const fit_job& job, cudaStream_t stream) {
  switch (s.model) {
    case diffusion_model::mono_exponential:
      return launch_fit_kernel<diffusion_model::mono_exponential, Fibres>(s, job, stream);
    case diffusion_model::gamma:
      return launch_fit_kernel<diffusion_model::gamma, Fibres>(s, job, stream);
    case diffusion_model::zeppelin:
      return launch_fit_kernel<diffusion_model::zeppelin, Fibres>(s, job, stream);
  }
}

}  // namespace voxherd::ballstick
