#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/item_input.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// The values of chosen voxels of a 4-D image, or of several images one after the other: a row of as many floats a
/// voxel as there are volumes. Plain files are readable at once, and have one stage.
class voxel_rows : public staged_input {
 public:
  /// Row i of [first, first + count) goes to out + i * stride (floats). Of stages that are ready.
  /// Throws failure (disk).
  virtual void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) = 0;
};

/// From uncompressed files on one grid: each call reads its own voxels from each volume. `voxels`, increasing linear
/// indices, must outlive the result.
std::unique_ptr<voxel_rows> open_plain_rows(const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels);

/// From files of which some are .nii.gz: the first rank of each node goes through them, once a stage of at most
/// `most_items` voxels, into memory that the node's ranks share. The first stage is begun here. `voxels` must outlive
/// the result. Collective over all ranks. Throws failure (disk), the same on every rank.
std::unique_ptr<voxel_rows> begin_inflating(const session& s, const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, std::uint64_t most_items);

/// One or the other, to be waited for (await_stage()). Collective over all ranks; throws failure, the same on every
/// rank.
std::unique_ptr<voxel_rows> begin_rows(const session& s, const std::vector<nifti_header>& files,
                                       const std::vector<std::uint64_t>& voxels,
                                       std::uint64_t most_items = staged_input::all_items);

bool is_compressed(const std::vector<nifti_header>& files);  ///< any of them

/// Of several images one after the other.
std::uint64_t volumes_of(const std::vector<nifti_header>& files);

/// Consecutive voxels of a selection: voxel first_voxel + i is item first_item + i.
struct voxel_run {
  std::uint64_t first_voxel, first_item, count;
};
/// The runs of items [first, last).
std::vector<voxel_run> runs_of(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last);

}  // namespace voxherd
