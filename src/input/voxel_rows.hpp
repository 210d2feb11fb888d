#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/session.hpp"
#include "src/input/nifti.hpp"

namespace voxherd {

/// The values of chosen voxels of a 4-D image, one row of `volumes` floats a voxel.
class voxel_rows {
 public:
  virtual ~voxel_rows() = default;

  /// Row i of [first, first + count) goes to out + i * stride (floats). Throws failure (disk).
  virtual void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) = 0;
};

/// From an uncompressed file: each call reads its own voxels from each volume. `voxels`, increasing linear indices,
/// must outlive the result.
std::unique_ptr<voxel_rows> open_plain_rows(const nifti_header& header, const std::vector<std::uint64_t>& voxels);

/// From a .nii.gz file: inflated once by the first rank of each node into memory that the node's ranks share.
/// Collective over all ranks. Throws failure (bad_data, disk), the same on every rank.
std::unique_ptr<voxel_rows> inflate_rows(const session& s, const nifti_header& header,
                                         const std::vector<std::uint64_t>& voxels);

/// out[i * stride + k] = columns[k * column_stride + i] for i < rows, k < volumes; in blocks that stay in the cache.
void transpose(const float* columns, std::size_t column_stride, std::size_t rows, std::size_t volumes, float* out,
               std::size_t stride);

/// Consecutive voxels of a selection: voxel first_voxel + i is item first_item + i.
struct voxel_run {
  std::uint64_t first_voxel, first_item, count;
};
/// The runs of items [first, last).
std::vector<voxel_run> runs_of(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last);

}  // namespace voxherd
