#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "src/io/gzip/gzip.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// Layout of chosen voxels in memory: one column per volume, as in the files, so that int16 needs half as much memory
/// as float. Types wider than float are stored as float.
class stored_columns {
 public:
  stored_columns(const std::vector<nifti_header>& files, std::uint64_t voxels);

  std::uint64_t bytes() const { return bytes_; }
  static double bytes_per_voxel(const std::vector<nifti_header>& files);

  /// Position of volume 0 of a file. Its columns are column_bytes apart.
  struct place {
    std::size_t offset = 0, column_bytes = 0, value_bytes = 0;
    /// Converts the file's values to float if they are stored as float; null if they are stored unchanged.
    nifti_converter widen = nullptr;
  };
  const place& file_place(std::size_t file) const { return files_[file].where; }

  /// Writes voxels [first, first + count) of one volume, of all files, as scaled floats.
  void load(const std::byte* memory, std::uint64_t volume, std::uint64_t first, std::uint64_t count, float* out) const;

 private:
  struct file_columns {
    place where;
    nifti_converter convert = nullptr;  ///< from the column
    double slope = 1, intercept = 0;
  };
  std::uint64_t bytes_ = 0;
  std::vector<file_columns> files_;
  std::vector<file_volume> volumes_;
};

/// Copies the chosen voxels of a NIfTI file, whose bytes arrive from several threads in arbitrary pieces, to columns.
class column_collector : public inflated_sink {
 public:
  /// `runs` are the chosen voxels. Columns are written to `memory` at `place`. All references must outlive the
  /// collector.
  column_collector(const nifti_header& header, const std::vector<voxel_run>& runs, const stored_columns::place& place,
                   std::byte* memory);

  void take(std::uint64_t position, const std::byte* bytes, std::size_t count) override;
  /// Whether every value of the image has arrived.
  bool is_complete() const { return values_left_ == 0; }

 private:
  /// A value whose bytes are split between two pieces.
  struct split_value {
    std::array<std::byte, 16> bytes{};
    std::size_t found = 0;
  };
  void take_part(std::uint64_t offset, const std::byte* bytes, std::size_t count);
  void take_values(std::uint64_t first_value, std::uint64_t count, const std::byte* bytes);
  void pick(std::uint64_t first_voxel, std::uint64_t count, const std::byte* bytes, std::byte* column) const;

  const nifti_header& header_;
  const std::vector<voxel_run>& runs_;
  const std::uint64_t grid_voxels_;
  const stored_columns::place& place_;
  std::byte* const memory_;
  std::atomic<std::uint64_t> values_left_;

  std::mutex mutex_;
  std::map<std::uint64_t, split_value> split_;  ///< split values by index of the value
};

/// A part of each volume that is inflated at once, and the chosen voxels in it. Items are numbered over all chosen
/// voxels.
struct volume_piece {
  std::uint64_t first_voxel = 0, count = 0;
  std::vector<voxel_run> runs;
};
/// Splits the range from the first to the last chosen voxel into pieces of at most 65,536 voxels; pieces without a
/// chosen voxel are left out.
std::vector<volume_piece> split_into_pieces(const std::vector<std::uint64_t>& voxels);
/// The same for a file that may be stored in another order than that of `voxels`.
std::vector<volume_piece> split_into_pieces(const nifti_header& file, const std::vector<std::uint64_t>& voxels);

struct inflating_threads {
  parallel_gzip_settings parallel{};  ///< one thread: igzip, the fastest for one
  /// Compressed size from which several threads are worthwhile.
  std::uint64_t min_file_bytes = std::uint64_t{1} << 24;
};

/// Reads all volumes of one file sequentially and stores the chosen voxels as columns in `memory` at `place`. Either
/// several threads inflate parts of the file and extract the voxels (parallel_gzip, column_collector), or one thread
/// does both. Needs no memory besides the columns and parallel_gzip's buffers. Verifies the checksums of the complete
/// file. Returns early once `stop` is set. Throws failure (bad_data, disk).
bytes_after_image inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces,
                               const stored_columns::place& place, std::byte* memory, const inflating_threads& settings,
                               const std::atomic<bool>& stop);

}  // namespace voxherd
