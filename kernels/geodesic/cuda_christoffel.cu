#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/paper/texture_reader.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_christoffel(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  using linear = trilinear_reader<24>;
  using spline = spline_reader<24>;
  if (job.rays.reading == interpolation::texture)
    return launch_reader<christoffel_form<texture_reader>, texture_reader>(job, next_fibre, stream);
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<christoffel_form<spline>, spline>(job, next_fibre, stream);
  launch_reader<christoffel_form<linear>, linear>(job, next_fibre, stream);
}

}  // namespace voxherd::geodesic
