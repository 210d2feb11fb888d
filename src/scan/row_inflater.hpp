#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "src/io/gzip/gzip.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// Layout of voxel rows in memory as stored in the files, so that int16 needs half as much memory as float. Consecutive
/// files of the same type and scaling form a section with one row per voxel and one value per volume. Types wider than
/// float are stored as float.
class stored_rows {
 public:
  stored_rows(const std::vector<nifti_header>& files, std::uint64_t voxels);

  std::uint64_t bytes() const { return bytes_; }
  static double bytes_per_voxel(const std::vector<nifti_header>& files);
  std::uint64_t volumes() const { return volumes_; }

  /// Position of volume 0 of voxel 0 of a file. Volumes are consecutive; rows are row_bytes apart.
  struct place {
    std::size_t offset = 0, row_bytes = 0, value_bytes = 0;
    /// Converts the file's values to float if they are stored as float; null if they are stored unchanged.
    nifti_converter widen = nullptr;
  };
  const place& file_place(std::size_t file) const { return places_[file]; }

  /// Writes rows [first, first + count) as scaled floats to out + i * stride.
  void load(const std::byte* memory, std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) const;

 private:
  struct section {
    std::size_t offset = 0, value_bytes = 0;
    std::uint64_t volumes = 0;
    nifti_converter convert = nullptr;
    double slope = 1, intercept = 0;
  };
  std::uint64_t bytes_ = 0, volumes_ = 0;
  std::vector<section> sections_;
  std::vector<place> places_;
};

/// Collects the bytes of a NIfTI file, arriving from several threads in arbitrary pieces, into rows. Chosen voxels are
/// stored in columns, one per volume; when a group of volumes is complete, further threads transpose its columns to
/// rows. Needs three times 64 bytes per voxel in addition to the rows.
class row_collector : public inflated_sink {
 public:
  /// `runs` are the chosen voxels, `voxels` their number. Rows are written to `memory` at `place` by `turners` threads
  /// per group. All references must outlive the collector.
  row_collector(const nifti_header& header, const std::vector<voxel_run>& runs, std::uint64_t voxels,
                const stored_rows::place& place, std::byte* memory, unsigned turners);
  ~row_collector() override;

  void take(std::uint64_t position, const std::byte* bytes, std::size_t count) override;
  void cancel() override;
  /// Waits for the threads. True if all rows are complete.
  bool finish();

 private:
  static constexpr std::size_t slots = 3;
  struct group {
    std::atomic<std::uint64_t> values_left{0};
    std::atomic<unsigned> turners_left{0};
    bool is_turned = false;
  };
  /// A value whose bytes are split between two pieces.
  struct split_value {
    std::array<std::byte, 16> bytes{};
    std::size_t found = 0;
  };
  void take_part(std::uint64_t offset, const std::byte* bytes, std::size_t count);
  void take_values(std::uint64_t first_value, std::uint64_t count, const std::byte* bytes);
  bool wait_for_columns(std::uint64_t index);
  void pick(std::uint64_t first_voxel, std::uint64_t count, const std::byte* bytes, std::byte* column) const;
  void turn(std::uint64_t index);
  void turn_part(std::uint64_t index, unsigned part);
  std::byte* group_columns(std::uint64_t index) { return columns_[index % slots].data(); }

  const nifti_header& header_;
  const std::vector<voxel_run>& runs_;
  const std::uint64_t voxels_, grid_voxels_;
  const stored_rows::place& place_;
  std::byte* const memory_;
  const std::uint64_t volumes_at_once_;
  const std::size_t column_bytes_;
  const unsigned turners_;
  std::array<std::vector<std::byte>, slots> columns_;
  std::vector<group> groups_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_up_ = false;
  std::map<std::uint64_t, split_value> split_;  ///< split values by index of the value
  std::vector<std::future<void>> turning_;
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

/// Reads all volumes of one file sequentially and stores them as rows in `memory` at `place`. Either several threads
/// inflate parts of the file and extract the voxels (parallel_gzip, row_collector), or one thread inflates while a
/// second one transposes the previous volumes. Needs three (or two) times 64 bytes per voxel in addition to the rows
/// and to parallel_gzip's buffers. Verifies the checksums of the complete file. Returns early once `stop` is set.
/// Throws failure (bad_data, disk).
bytes_after_image inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces,
                               std::uint64_t voxels, const stored_rows::place& place, std::byte* memory,
                               const inflating_threads& settings, const std::atomic<bool>& stop);

}  // namespace voxherd
