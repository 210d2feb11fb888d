#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_finsler4(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  using linear = trilinear_reader<16>;
  using spline = spline_reader<16>;
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<finsler4_form<spline>, spline>(job, next_fibre, stream);
  launch_reader<finsler4_form<linear>, linear>(job, next_fibre, stream);
}

}  // namespace voxherd::geodesic
