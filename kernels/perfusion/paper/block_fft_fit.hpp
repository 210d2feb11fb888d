#pragma once

#include <memory>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

class block_fft_plan;

/// Fits all items by the simplex with the Block-FFT, the paper's discretisation, on the calling CPU thread.
void fit_by_block_fft(const curves_view<double>& curves, const block_fft_plan& plan,
                      const fit_limits<double, washout<2>::count>& limits, const fit_arrays& arrays);

#if !defined(__CUDACC__)
/// The Block-FFT of any shape as a model on a CPU thread, one voxel per lane (see model.hpp); owns its memory.
class block_fft_lanes {
 public:
  virtual ~block_fft_lanes() = default;
  virtual double_lanes cost(const double_lanes (&p)[washout<2>::count], voxel_samples y) = 0;
};
std::unique_ptr<block_fft_lanes> make_block_fft_lanes(const curves_view<double>& curves, const block_fft_plan& plan);
#endif

}  // namespace voxherd::perfusion
