#pragma once

#include "kernels/perfusion/cuda_fit.cuh"
#include "kernels/perfusion/paper/block_fft_plan.hpp"

/// The fit stage on a GPU by the Block-FFT: one item per thread block.
namespace voxherd::perfusion {

using block_fft_job = cuda_fit_job<double, washout<2>::count>;

class cuda_block_fft {
 public:
  /// Wait for the stream before destroying this. Throws std::invalid_argument for more than max_block_fft_frames.
  cuda_block_fft(int frames, cudaStream_t stream);
  /// The simplex with the paper's discretisation, for all items.
  void launch(const block_fft_job& job, cudaStream_t stream) const;

 private:
  block_fft_plan plan_;
  device_buffer<complex_number<double>> numbers_;
};

/// Launches the kernel of shape (q, P) if there is one. Instantiated in one unit per P: kernels/CMakeLists.txt.
template <int P>
void launch_block_fft(int q, const block_fft_tables& t, const block_fft_job& job, cudaStream_t stream);

}  // namespace voxherd::perfusion
