#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/analysis.hpp"
#include "mpi/run.hpp"

namespace voxherd {

/// Items a batch when the user names no number: as many as the free device memory takes in every lane, in steps of
/// 1024 up to 32768, and few enough that ranks finish together. `free_device_bytes` 0 means the device is the host,
/// whose batches are smaller, in steps of 128.
std::uint64_t automatic_batch_items(std::uint64_t items, std::size_t free_device_bytes,
                                    std::size_t device_bytes_per_item, int lanes);

/// Cuts the items into batches. voxels: `batch_items` consecutive items each. slices: one batch for each z slice with
/// items in it, a slice of more than `batch_items` cut evenly. `item_voxels` increase; `batch_items` > 0.
std::vector<batch> make_plan(partition_kind partition, std::span<const std::uint64_t> item_voxels,
                             const image_grid& grid, std::uint64_t batch_items);

/// First item of each batch and, last, the number of items: how a plan is stored and broadcast.
std::vector<std::uint64_t> first_items_of(std::span<const batch> batches);
std::vector<batch> batches_of(std::span<const std::uint64_t> first_items);

/// Size of the largest batch, in items.
std::uint64_t largest_batch(std::span<const batch> batches);

}  // namespace voxherd
