#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Places in memory: value k of item i is at first[i * item_stride + k * value_stride].
struct value_places {
  float* first;
  std::size_t item_stride, value_stride;

  static value_places in_rows(float* first, std::size_t stride) { return {first, stride, 1}; }
  /// `layout`: of `items` items with `values` each.
  static value_places in(input_layout layout, float* first, std::size_t items, std::size_t values) {
    return layout == input_layout::rows ? in_rows(first, values) : value_places{first, 1, items};
  }
  float& at(std::size_t item, std::size_t value) const { return first[item * item_stride + value * value_stride]; }
  value_places from(std::size_t item, std::size_t value) const { return {&at(item, value), item_stride, value_stride}; }
};

/// Some volumes of consecutive items. Volumes are numbered among those that are kept.
struct value_block {
  std::uint64_t first_item, end_item, first_volume, end_volume;
};

/// The values of chosen voxels of one or several concatenated 4-D images, one float per volume. Files and node memory
/// have them volume by volume, that is in columns; they are transposed here if a caller wants rows. Plain files are
/// ready immediately and have one stage.
class voxel_rows : public staged_input {
 public:
  /// load() uses up to `threads` threads.
  voxel_rows(std::uint64_t volumes, int threads);

  /// Leaves out all other volumes. Once, before the first load().
  void keep_volumes(std::vector<std::uint32_t> volumes) { volumes_ = std::move(volumes); }

  /// Writes the kept volumes of items [first, first + count), of which the first is item 0 of `out`: rows or columns.
  /// The items' stage must be ready. Throws failure (disk).
  void load(std::uint64_t first, std::uint64_t count, const value_places& out);

 protected:
  const std::vector<std::uint32_t>& volumes() const { return volumes_; }  ///< those that are kept, increasing

  /// Called by load() before its threads start.
  virtual void begin_load(std::uint64_t first, std::uint64_t end) = 0;
  /// The end of the items from `first` on, at most `end`, that can be gathered at once.
  virtual std::uint64_t chunk_end(std::uint64_t /*first*/, std::uint64_t end) const { return end; }
  /// Writes columns that are `stride` floats apart. Called by several threads, each with scratch memory of its own.
  virtual void gather(const value_block& block, std::vector<std::byte>& stored, float* columns,
                      std::size_t stride) const = 0;

 private:
  /// Memory of one thread.
  struct scratch {
    std::vector<std::byte> stored;
    std::vector<float> columns;
  };
  std::vector<value_block> cut(std::uint64_t first, std::uint64_t last) const;
  void load_block(const value_block& block, const value_places& out, scratch& own) const;

  std::vector<std::uint32_t> volumes_;
  std::size_t threads_;
  std::vector<scratch> scratch_;
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

/// A volume of one of several concatenated files.
struct file_volume {
  std::size_t file;
  std::uint64_t volume;
};
std::vector<file_volume> list_volumes(const std::vector<nifti_header>& files);

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
