#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

enum class partition_kind { slices, voxels };
/// dynamic: ranks fetch batches. in_advance: dealt to the ranks in turn. blocks: to each rank as many that follow one
/// another.
enum class schedule_kind { dynamic, in_advance, blocks };

/// How many items the batches of a plan by voxels have: `largest` first, then ever fewer: one part in `parts` of what
/// is not yet cut, until batches of `last` items are left, so that ranks that fetch them end together.
struct batch_sizes {
  /// Batches all alike.
  explicit batch_sizes(std::uint64_t items) : largest(items), last(items), finest(items) {}
  batch_sizes(std::uint64_t most, std::uint64_t least, std::uint64_t parts_of_rest)
      : largest(most), last(least < most ? least : most), finest(last), parts(parts_of_rest) {}

  std::uint64_t largest, last;
  /// Below `last`: what the last 16 `last` items fall to, one part in 16 of the rest each. `last` for none.
  std::uint64_t finest;
  std::uint64_t parts = 1;
  /// The last 64th of the items in batches of a half, a quarter, an eighth of `last`: for CPU ranks beside GPUs.
  bool ends_for_slow_ranks = false;
};

/// Sizes that go from `largest` down to what is worth a batch on a GPU, `last` (analysis::last_items_per_batch()), or
/// on the host, `last` 0. `most`: analysis::most_items_per_batch().
batch_sizes falling_sizes(std::uint64_t largest, std::uint64_t last, std::uint64_t most);

/// Items of a batch on the host that is worth the messages and the threads' start; 1 where items are large ones.
std::uint64_t last_items_on_host(std::uint64_t most);

/// Items a batch when the user names no number: as many as the free device memory takes in every lane, in steps of
/// 1024 up to `most` (analysis::most_items_per_batch()), and few enough that ranks finish together, but not below
/// `fewest`. `free_device_bytes` 0 means the device is the host, whose batches are smaller, in steps of 128 up to 8192
/// or, where that is more, most / 16.
std::uint64_t automatic_batch_items(std::uint64_t items, std::size_t free_device_bytes,
                                    std::size_t device_bytes_per_item, int lanes, std::uint64_t most,
                                    std::uint64_t fewest = 8192);

/// Largest number of items whose outputs laid out as points take 256 MB on the average: what a batch's buffers and
/// device memory are made for. No limit where there are no such outputs or no points. At least 1.
std::uint64_t batch_items_for_points(const std::vector<output_spec>& outputs,
                                     std::span<const std::uint64_t> point_offsets);

/// Cuts the items into batches of consecutive items. voxels: by `sizes`, no batch larger than the one before it.
/// slices: one batch for each z slice with items in it, a slice of more than `sizes.largest` cut evenly. Slices want
/// item_voxels that never fall; where they do (items that are no voxels, such as ranked fibres), the plan is one by
/// voxels. Sizes > 0.
std::vector<batch> make_plan(partition_kind partition, std::span<const std::uint64_t> item_voxels,
                             const image_grid& grid, const batch_sizes& sizes);

/// First item of each batch and, last, the number of items: how a plan is stored and broadcast.
std::vector<std::uint64_t> first_items_of(std::span<const batch> batches);
std::vector<batch> batches_of(std::span<const std::uint64_t> first_items);

}  // namespace voxherd
