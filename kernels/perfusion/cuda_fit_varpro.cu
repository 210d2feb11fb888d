#include "kernels/perfusion/cuda_fit.cuh"

namespace voxherd::perfusion {

void launch_varpro(const fit_settings& s, const cuda_fit_job<double>& job, cudaStream_t stream) {
  with_model<double>(s, job.curves.spacing_s > 0,
                     [&]<class Model>() { launch_fit<varpro<double>, Model>(job, stream); });
}

}  // namespace voxherd::perfusion
