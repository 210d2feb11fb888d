#include "kernels/perfusion/cuda_linear.cuh"

#include "kernels/device/each_cuda.cuh"
#include "kernels/perfusion/cuda_tile.cuh"
#include "kernels/perfusion/linear_fit.hpp"

namespace voxherd::perfusion {

namespace {

__global__ void linear_kernel(const __grid_constant__ linear_fitter<double> fitter,
                              const __grid_constant__ fit_arrays a) {
  extern __shared__ __align__(16) std::byte shared[];
  const shared_tile tile(shared, a.frames);
  const int rows = rows_of_block(a.count);
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x, voxel = first + threadIdx.x;
  tile.load(a.samples + first * static_cast<std::size_t>(a.frames), rows, a.frames);
  if (static_cast<int>(threadIdx.x) < rows) keep_linear_fit(fitter({tile.row(), 1}), 0, a, voxel);
}

}  // namespace

cuda_linear::cuda_linear(const time_course& t, const fit_settings& s, cudaStream_t stream)
    : table_(t, s.rules[tau_a].start, s.rules[tau_p].start),
      values_(copied(table_.values().data(), table_.values().size(), stream)),
      counts_(copied(table_.counts().data(), table_.counts().size(), stream)),
      fitter_(table_.view_of(values_.data(), counts_.data()), s) {}

void cuda_linear::launch(const fit_arrays& a, cudaStream_t stream) const {
  launch_tiles(linear_kernel, a.count, a.frames, 0, stream, fitter_, a);
}

}  // namespace voxherd::perfusion
