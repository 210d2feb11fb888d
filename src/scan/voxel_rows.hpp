#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// The values of chosen voxels of one or several concatenated 4-D images: one row per voxel, one float per volume.
/// Plain files are ready immediately and have one stage.
class voxel_rows : public staged_input {
 public:
  /// Writes row i of [first, first + count) to out + i * stride (floats). The rows' stage must be ready. Throws failure
  /// (disk).
  virtual void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) = 0;
};

/// Throws failure (internal_error) if a batch is not of these `items`, or its rows of `stride` floats do not fit in
/// `out`.
void check_room(const batch& b, std::size_t items, std::size_t stride, std::span<const float> out);

/// Opens uncompressed files on one grid, each in its own order; each load() reads its own voxels from each volume, by
/// up to `threads` threads. `voxels` (increasing linear indices) must outlive the result.
std::unique_ptr<voxel_rows> open_plain_rows(const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, int threads = 1);

/// Opens files on one grid, each in its own order: start_inflating() (inflated_rows.hpp) if any of them is compressed,
/// otherwise open_plain_rows(). Wait for the result with await_stage(). Collective over all ranks. Throws failure, the
/// same on every rank.
std::unique_ptr<voxel_rows> start_rows(const session& s, const std::vector<nifti_header>& files,
                                       const std::vector<std::uint64_t>& voxels,
                                       std::uint64_t max_items = staged_input::all_items);

bool is_compressed(const std::vector<nifti_header>& files);  ///< whether any file is compressed

/// Total number of volumes of the files.
std::uint64_t total_volumes(const std::vector<nifti_header>& files);

/// Consecutive voxels of a selection, as stored in a file: voxel first_voxel + i is item first_item + i.
struct voxel_run {
  std::uint64_t first_voxel, first_item, count;
};
/// Finds the runs of items [first, last).
std::vector<voxel_run> find_runs(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last);
/// The same in a file that may be stored in another order than that of `voxels`: by increasing place in the file.
std::vector<voxel_run> find_runs(const nifti_header& file, const std::vector<std::uint64_t>& voxels,
                                 std::uint64_t first, std::uint64_t last);

/// Starts inflating files of which some are .nii.gz. The first rank of each node reads them once per stage of at most
/// `max_items` voxels into memory shared by the node's ranks. The first stage starts immediately. `voxels` must outlive
/// the result. Collective over all ranks. Throws failure (disk), the same on every rank.
std::unique_ptr<voxel_rows> start_inflating(const session& s, const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, std::uint64_t max_items);

}  // namespace voxherd
