#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"

namespace voxherd {

enum class partition_kind { slices, voxels };
/// dynamic: ranks fetch batches. in_advance: batches are dealt to the ranks in turn. blocks: each rank gets one range
/// of consecutive batches.
enum class schedule_kind { dynamic, in_advance, blocks };

/// Numbers of items in the batches of a plan by voxels: `largest` first, then decreasing, 1 / `parts` of the items that
/// remain, down to batches of `last` items, so that ranks that fetch them finish together.
struct batch_sizes {
  /// Batches of equal size.
  explicit batch_sizes(std::uint64_t items) : largest(items), last(items), finest(items) {}
  batch_sizes(std::uint64_t most, std::uint64_t least, std::uint64_t parts_of_rest)
      : largest(most), last(least < most ? least : most), finest(last), parts(parts_of_rest) {}

  std::uint64_t largest, last;
  /// Smallest size, below `last`, to which the final 16 * `last` items decrease, 1/16 of the rest each; `last`: unused.
  std::uint64_t finest;
  std::uint64_t parts = 1;
  /// The last 64th of the items in batches of 1/2, 1/4 and 1/8 of `last`: for CPU ranks in a run with GPUs.
  bool ends_for_slow_ranks = false;
};

/// Sizes that decrease from `largest` to the smallest useful batch on a GPU, `last` (analysis::last_items_per_batch()),
/// or on the host if `last` is 0. `most`: analysis::max_items_per_batch().
batch_sizes falling_sizes(std::uint64_t largest, std::uint64_t last, std::uint64_t most);

/// Items of the smallest batch on the host that justifies messages and thread start; 1 if items are large.
std::uint64_t last_items_on_host(std::uint64_t most);

/// Items per batch if the user sets no number: as many as fit in the free device memory in every lane, in steps of
/// 1024 up to `most` (analysis::max_items_per_batch()), and few enough that ranks finish together, but not below
/// `fewest`. `free_device_bytes` 0 means the device is the host, whose batches are smaller, in steps of 128 up to 8192
/// or, if that is more, most / 16.
std::uint64_t automatic_batch_items(std::uint64_t items, std::size_t free_device_bytes,
                                    std::size_t device_bytes_per_item, int lanes, std::uint64_t most,
                                    std::uint64_t fewest = 8192);

/// Largest number of items whose outputs laid out as points take 256 MB on average: the limit for a batch's buffers and
/// device memory. No limit if there are no such outputs or no points. At least 1.
std::uint64_t batch_items_for_points(const std::vector<output_spec>& outputs,
                                     std::span<const std::uint64_t> point_offsets);

/// Cuts the items into batches of consecutive items. voxels: by `sizes`, no batch larger than the one before it.
/// slices: one batch for each z slice with items in it, a slice of more than `sizes.largest` cut evenly. Slices need
/// item_voxels that never decrease; if they do (items that are not voxels, such as ranked fibres), the plan is by
/// voxels. Sizes > 0.
std::vector<batch> make_plan(partition_kind partition, std::span<const std::uint64_t> item_voxels,
                             const image_grid& grid, const batch_sizes& sizes);

/// First item of each batch, then the number of items: the form in which a plan is stored and broadcast.
std::vector<std::uint64_t> first_items_of(std::span<const batch> batches);
std::vector<batch> make_batches(std::span<const std::uint64_t> first_items);

/// Work on many items, in pieces that are halved until they fit in device memory.
class pieces_that_fit {
 public:
  /// Calls work(first, count) for pieces of [0, items). If it throws device_out_of_memory, calls release() and
  /// continues with pieces of half as many items, also in later calls. Rethrows if a single item does not fit.
  template <class Work, class Release>
  void run(std::uint64_t items, Work work, Release release) {
    for (std::uint64_t done = 0; done < items;) {
      const std::uint64_t piece = std::min(items - done, limit_);
      try {
        work(done, piece);
      } catch (const device_out_of_memory&) {
        if (piece == 1) throw;
        release();
        limit_ = piece / 2;
        continue;
      }
      done += piece;
    }
  }

 private:
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace voxherd
