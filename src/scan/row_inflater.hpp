#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/gzip/gzip.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/stored_rows.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// A part of every volume that is inflated at once, and the chosen voxels in it. Items are counted over all voxels.
struct volume_piece {
  std::uint64_t first_voxel = 0, count = 0;
  std::vector<voxel_run> runs;
};
/// Pieces of at most 65,536 voxels, from the first chosen voxel to the last; none without a chosen voxel.
std::vector<volume_piece> pieces_of(const std::vector<std::uint64_t>& voxels);

struct inflating_threads {
  parallel_gzip_settings parallel{};  ///< one thread: igzip, which is the fastest for one
  /// Of the .gz; a smaller one is inflated before several threads have divided it up.
  std::uint64_t smallest_file_bytes = std::uint64_t{1} << 24;
};

/// Brings all volumes of one file into rows, from `place` in `memory` on, while it goes through the file once: several
/// threads inflate parts of it and pick the voxels out (parallel_gzip, row_collector), or one does and a second turns
/// the volumes before into rows. Uses three (two) times 64 bytes a voxel beside the rows and what parallel_gzip uses.
/// Leaves early once `stop` is set. Throws failure (bad_data, disk).
void inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces, std::uint64_t voxels,
                  const stored_rows::place& place, std::byte* memory, const inflating_threads& how,
                  const std::atomic<bool>& stop);

}  // namespace voxherd
