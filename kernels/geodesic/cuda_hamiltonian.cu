#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_hamiltonian(const trace_job& job, unsigned long long* begun, cudaStream_t stream) {
  using linear = trilinear_reader<8>;
  using spline = spline_reader<8>;
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<hamiltonian_form<spline>, spline>(job, begun, stream);
  launch_reader<hamiltonian_form<linear>, linear>(job, begun, stream);
}

}  // namespace voxherd::geodesic
