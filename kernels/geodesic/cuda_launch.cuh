#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/geodesic/cuda_forms.cuh"
#include "kernels/geodesic/forms.hpp"
#include "kernels/geodesic/paper/texture_field.cuh"
#include "kernels/geodesic/ray_tracer.hpp"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

template <class Reader>
VOXHERD_FUNCTION Reader make_reader(const trace_job& job) {
  if constexpr (std::is_constructible_v<Reader, const trace_job&>) {
    return Reader(job);
  } else {
    return Reader(job.field);
  }
}

/// The threads of a warp that integrate rays together. They stay converged until the end; otherwise each would read the
/// field separately.
struct ray_warp {
  unsigned lanes;  ///< one bit per lane
  std::uint64_t own, threads;
  unsigned long long* next_fibre;
  bool first = true;

  __device__ bool any(bool value) const { return __any_sync(lanes, value) != 0; }
  /// While a thread starts a ray the others wait: threads start rays only when a quarter of them are waiting.
  __device__ bool enough(bool waiting, bool active) const {
    const int wait = __popc(__ballot_sync(lanes, waiting));
    return 4 * wait >= wait + __popc(__ballot_sync(lanes, active));
  }
  __device__ std::uint64_t next() {
    if (!first) own = threads + atomicAdd(next_fibre, 1ull);
    first = false;
    return own;
  }
};

/// Each thread integrates one fibre after another until none is left; uses the first `used` threads of each block.
template <class Form, class Reader, int Block>
__global__ void __launch_bounds__(Block)
    trace_kernel(const __grid_constant__ trace_job job, unsigned used, unsigned long long* next_fibre) {
  if (threadIdx.x >= used) return;
  ray_warp warp{used >= 32 ? 0xffffffffu : (1u << used) - 1, std::uint64_t{blockIdx.x} * used + threadIdx.x,
                std::uint64_t{gridDim.x} * used, next_fibre};
  ray_tracer<Form>(job, Form{make_reader<Reader>(job)}).run(warp);
}

template <class Form, class Reader, int Block>
void launch_rounds(const trace_job& job, unsigned long long* next_fibre, unsigned used, cudaStream_t stream) {
  const auto kernel = trace_kernel<Form, Reader, Block>;
  // Rays of equal length end together: rounds of equal size leave no round partially filled.
  const std::uint64_t wanted = (job.count + used - 1) / used, room = resident_blocks(kernel, {Block});
  const std::uint64_t rounds = (wanted + room - 1) / room, blocks = (wanted + rounds - 1) / rounds;
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(next_fibre, 0, sizeof *next_fibre, stream));
  launch_blocks(kernel, blocks, {Block}, stream, job, used, next_fibre);
}

template <class Form, class Reader>
void launch_reader(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  // Few fibres are spread over all schedulers, in partially filled warps: a step waits for its loads, and the loads of
  // a warp are serialised if its rays read different voxels.
  constexpr int schedulers = 4;
  const auto warps = std::uint64_t(processors_of_device()) * schedulers;
  if (job.count <= 32 * warps) {
    const auto used = static_cast<unsigned>(std::max<std::uint64_t>(1, (job.count + warps - 1) / warps));
    return launch_rounds<Form, Reader, 32>(job, next_fibre, used, stream);
  }
  launch_rounds<Form, Reader, 128>(job, next_fibre, 128, stream);
}

/// The equations of a form and the floats per voxel of its field.
template <ray_form>
struct form_traits;
template <>
struct form_traits<ray_form::christoffel> {
  static constexpr int floats = 24;
  template <class Reader>
  using form = christoffel_form<Reader>;
};
template <>
struct form_traits<ray_form::hamiltonian> {
  static constexpr int floats = 8;
  template <class Reader>
  using form = hamiltonian_form<Reader>;
};
template <>
struct form_traits<ray_form::streamline> {
  static constexpr int floats = 8;
  template <class Reader>
  using form = streamline_form<Reader>;
};
template <>
struct form_traits<ray_form::finsler4> {
  static constexpr int floats = 16;
  template <class Reader>
  using form = finsler4_form<Reader>;
};

template <ray_form Form>
void launch_form(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  using traits = form_traits<Form>;
  using linear = trilinear_reader<traits::floats>;
  using spline = spline_reader<traits::floats>;
  if constexpr (Form == ray_form::christoffel) {
    if (job.rays.reading == interpolation::texture)
      return launch_reader<christoffel_form<texture_reader>, texture_reader>(job, next_fibre, stream);
  }
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<typename traits::template form<spline>, spline>(job, next_fibre, stream);
  launch_reader<typename traits::template form<linear>, linear>(job, next_fibre, stream);
}

}  // namespace voxherd::geodesic
