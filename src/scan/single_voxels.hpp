#pragma once

#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Values of chosen voxels of one or several images on one grid, read by one process: one row per voxel, in the order
/// of `voxels` (increasing linear indices), one float per volume. A compressed file is inflated once. Throws failure.
std::vector<float> read_single_voxels(const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels);

/// The same, one voxel at a time, for interactive use. A compressed file is inflated at the first request for all
/// voxels of interest; if these exceed `max_floats`, at each request.
class single_voxels {
 public:
  /// `of_interest`: increasing.
  single_voxels(std::vector<nifti_header> files, std::vector<std::uint64_t> of_interest);

  std::uint64_t volumes() const { return volumes_; }
  std::vector<float> read(std::uint64_t voxel);

  static constexpr std::uint64_t max_floats = std::uint64_t{1} << 28;  ///< 1 GiB

 private:
  std::vector<nifti_header> files_;
  std::vector<std::uint64_t> of_interest_;
  std::uint64_t volumes_;
  std::vector<float> rows_;  ///< rows of the voxels of interest; empty until they are read
};

}  // namespace voxherd
