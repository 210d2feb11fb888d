#include "kernels/perfusion/paper/block_fft_cuda.cuh"

#include "kernels/device/launch.cuh"

namespace voxherd::perfusion {

cuda_block_fft::cuda_block_fft(int frames, cudaStream_t stream)
    : plan_(block_fft_shape_of(frames)), numbers_(copied(plan_.numbers().data(), plan_.numbers().size(), stream)) {}

void cuda_block_fft::launch(const block_fft_job& job, cudaStream_t stream) const {
  const block_fft_tables tables = plan_.view_of(numbers_.data());
  const auto [q, p] = plan_.shape();
  if (p == 16) launch_block_fft<16>(q, tables, job, stream);
  if (p == 32) launch_block_fft<32>(q, tables, job, stream);
  if (p == 64) launch_block_fft<64>(q, tables, job, stream);
  if (p == 128) launch_block_fft<128>(q, tables, job, stream);
  VOXHERD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace voxherd::perfusion
