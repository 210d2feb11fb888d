#include "kernels/perfusion/cuda_fit.cuh"

namespace voxherd::perfusion {

namespace {

template <class Scalar>
void launch(const fit_settings& s, const cuda_fit_job<Scalar>& job, cudaStream_t stream) {
  with_model<Scalar>(s, job.curves.spacing_s > 0,
                     [&]<class Model>() { launch_fit<levenberg<Scalar>, Model>(job, stream); });
}

}  // namespace

void launch_levenberg(const fit_settings& s, const cuda_fit_job<double>& job, cudaStream_t stream) {
  launch(s, job, stream);
}
void launch_levenberg(const fit_settings& s, const cuda_fit_job<float>& job, cudaStream_t stream) {
  launch(s, job, stream);
}

}  // namespace voxherd::perfusion
