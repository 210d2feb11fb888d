#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_finsler4(const trace_job& job, unsigned long long* begun, cudaStream_t stream) {
  using linear = trilinear_reader<16>;
  using spline = spline_reader<16>;
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<finsler4_form<spline>, spline>(job, begun, stream);
  launch_reader<finsler4_form<linear>, linear>(job, begun, stream);
}

}  // namespace voxherd::geodesic
