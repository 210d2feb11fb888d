#pragma once

#include "kernels/ballstick/cuda_jobs.cuh"
#include "kernels/ballstick/fit_engine.hpp"
#include "kernels/ballstick/fitter.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/cuda_team.cuh"

namespace voxherd::ballstick {

/// The counterpart of cpu_gram for a complete warp: the lanes write their rows to shared memory, and each lane sums its
/// elements of the triangle over them. No atomics: every sum has a fixed order.
template <int N>
class cuda_gram {
 public:
  using team = cuda_team<double, 32>;
  static constexpr int lanes = 32;
  static constexpr int elements_per_lane = (packed_size(N) + lanes - 1) / lanes;
  /// An odd stride spreads a column over the banks.
  static constexpr int stride = N | 1;
  static constexpr int shared_doubles = lanes * stride;

  /// `rows`: shared_doubles numbers that only this warp uses.
  __device__ cuda_gram(const team& t, double* rows) : team_(t), rows_(rows) {
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) {
      const int element = t.lane + lanes * e;
      int row = 0;
      while (packed_index(row + 1, 0) <= element) ++row;
      const bool used = element < packed_size(N);
      row_[e] = used ? row : 0;
      column_[e] = used ? element - packed_index(row, 0) : 0;
    }
  }

  __device__ void clear() {
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) sums_[e] = 0;
  }

  __device__ void add(const double (&row)[N]) {
    team_.sync();
#pragma unroll
    for (int i = 0; i < N; ++i) rows_[team_.lane * stride + i] = row[i];
    team_.sync();
#pragma unroll 8
    for (int l = 0; l < lanes; ++l) {
      const double* other = rows_ + l * stride;
#pragma unroll
      for (int e = 0; e < elements_per_lane; ++e) sums_[e] += other[row_[e]] * other[column_[e]];
    }
  }

  __device__ void finish(const team& t, double* packed) const {
    t.sync();
#pragma unroll
    for (int e = 0; e < elements_per_lane; ++e) {
      const int element = t.lane + lanes * e;
      if (element < packed_size(N)) packed[element] = sums_[e];
    }
    t.sync();
  }

 private:
  team team_;
  double* rows_;
  int row_[elements_per_lane], column_[elements_per_lane];
  double sums_[elements_per_lane];
};

template <int N>
struct gram_of<cuda_team<double, 32>, N> {
  using type = cuda_gram<N>;
  static constexpr int shared_doubles = cuda_gram<N>::shared_doubles;
};

/// Solves the equations by Gauss-Jordan elimination in shared memory, some elements per lane: N steps of a few
/// instructions, where in a factorisation most lanes would wait for one. Positive definite systems need no pivoting.
template <int N>
struct solver_of<cuda_team<double, 32>, N> {
  static constexpr int stride = N + 1;  ///< the right side is the last column
  static constexpr int shared_doubles = N * stride;
  static constexpr int lanes = 32;
  static constexpr int elements_per_lane = (shared_doubles + lanes - 1) / lanes;

  template <class Matrix, class Right>
  __device__ static bool solve(const cuda_team<double, 32>& team, double* a, const Matrix& matrix, const Right& right,
                               double* x) {
    team.share(shared_doubles, [&](int e) {
      const int i = e / stride, j = e % stride;
      a[e] = j < N ? matrix(i, j) : right(i);
    });
    team.sync();
    constexpr double rounding = 2.2e-16;
    for (int j = 0; j < N; ++j) {
      const double pivot = a[j * stride + j];
      if (!(pivot > rounding * matrix(j, j))) return false;
      const double inverse = reciprocal(pivot);
#pragma unroll
      for (int t = 0; t < elements_per_lane; ++t) {
        const int e = team.lane + lanes * t;
        const int i = e / stride, k = e % stride;
        if (e < shared_doubles && i != j && k > j) a[e] -= a[i * stride + j] * inverse * a[j * stride + k];
      }
      team.sync();
    }
    team.share(N, [&](int i) { x[i] = a[i * stride + N] / a[i * stride + i]; });
    team.sync();
    return true;
  }

 private:
  /// From the single-precision reciprocal by two Newton steps, to 2^-48: a quarter of the division's latency.
  __device__ static double reciprocal(double x) {
    double y = __frcp_rn(static_cast<float>(x));
    y *= 2 - x * y;
    return y * (2 - x * y);
  }
};

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
