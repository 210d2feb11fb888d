#pragma once

#include "kernels/device/cuda_check.cuh"
#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/linear_fitter.hpp"

namespace voxherd::perfusion {

/// The linear fit on a GPU, one voxel per thread.
class cuda_linear {
 public:
  cuda_linear(const time_course& t, const fit_settings& s, cudaStream_t stream);
  void launch(const fit_arrays& a, cudaStream_t stream) const;

 private:
  linear_table table_;
  device_buffer<double> values_;
  device_buffer<std::uint8_t> counts_;
  linear_fitter<double> fitter_;
};

}  // namespace voxherd::perfusion
