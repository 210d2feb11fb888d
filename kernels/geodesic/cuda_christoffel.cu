#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/paper/texture_reader.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_christoffel(const trace_job& job, unsigned long long* begun, cudaStream_t stream) {
  using linear = trilinear_reader<24>;
  using spline = spline_reader<24>;
  if (job.rays.reading == interpolation::texture)
    return launch_reader<christoffel_form<texture_reader>, texture_reader>(job, begun, stream);
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<christoffel_form<spline>, spline>(job, begun, stream);
  launch_reader<christoffel_form<linear>, linear>(job, begun, stream);
}

}  // namespace voxherd::geodesic
