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

/// A part of each volume that is inflated at once, and the chosen voxels in it. Items are numbered over all chosen
/// voxels.
struct volume_piece {
  std::uint64_t first_voxel = 0, count = 0;
  std::vector<voxel_run> runs;
};
/// Splits the range from the first to the last chosen voxel into pieces of at most 65,536 voxels; pieces without a
/// chosen voxel are left out.
std::vector<volume_piece> split_into_pieces(const std::vector<std::uint64_t>& voxels);

struct inflating_threads {
  parallel_gzip_settings parallel{};  ///< one thread: igzip, the fastest for one
  /// Compressed size from which several threads are worthwhile.
  std::uint64_t min_file_bytes = std::uint64_t{1} << 24;
};

/// Reads all volumes of one file sequentially and stores them as rows in `memory` at `place`. Either several threads
/// inflate parts of the file and extract the voxels (parallel_gzip, row_collector), or one thread inflates while a
/// second one transposes the previous volumes. Needs three (or two) times 64 bytes per voxel in addition to the rows
/// and to parallel_gzip's buffers. Verifies the checksums of the complete file. Returns early once `stop` is set.
/// Throws failure (bad_data, disk).
bytes_after_image inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces,
                               std::uint64_t voxels, const stored_rows::place& place, std::byte* memory,
                               const inflating_threads& settings, const std::atomic<bool>& stop);

}  // namespace voxherd
