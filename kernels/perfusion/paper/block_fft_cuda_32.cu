#include "kernels/perfusion/paper/block_fft_kernel.cuh"

namespace voxherd::perfusion {

void launch_block_fft_32(int q, const block_fft_tables& t, const cuda_fit_job<double>& job, cudaStream_t stream) {
  launch_block_fft<32>(q, t, job, stream);
}

}  // namespace voxherd::perfusion
