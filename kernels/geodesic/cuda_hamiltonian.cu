#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/scalar_reader.hpp"

namespace voxherd::geodesic {

void launch_hamiltonian(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  using linear = trilinear_reader<8>;
  using spline = spline_reader<8>;
  if (job.rays.reading == interpolation::bspline)
    return launch_reader<hamiltonian_form<spline>, spline>(job, next_fibre, stream);
  launch_reader<hamiltonian_form<linear>, linear>(job, next_fibre, stream);
}

}  // namespace voxherd::geodesic
