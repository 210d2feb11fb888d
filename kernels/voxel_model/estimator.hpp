#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/output_arrays.hpp"

namespace voxherd::voxel_model {

/// Fits, and samples, batches of voxels on one device. Owns its scratch memory; used by one thread.
template <class Outputs>
class estimator {
 public:
  virtual ~estimator() = default;

  /// `voxels`: each item's index in the image, which keys its random numbers. `rows`: count x (K signals [+ 9 of the
  /// gradient deviation, column-wise]). `out`: null for outputs that are not wanted. Throws device_error;
  /// device_out_of_memory if fewer voxels may fit.
  virtual void run(std::size_t count, const std::uint64_t* voxels, const float* rows,
                   const output_arrays<Outputs>& out) = 0;

  /// Frees the device memory that is kept between batches.
  virtual void release_memory() {}
};

}  // namespace voxherd::voxel_model
