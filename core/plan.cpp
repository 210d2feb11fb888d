#include "core/plan.hpp"

#include <algorithm>
#include <limits>

#include "core/step_outputs.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t step = 1024;
constexpr std::uint64_t cpu_step = 128;
constexpr std::uint64_t point_bytes_per_batch = 256 << 20;
constexpr double share_of_free_memory = 0.6;

// A GPU rank has three batches in progress, a CPU rank two. With this many parts, 8 GPUs or 64 CPU ranks finish their
// batches before the remaining work would be finished.
constexpr std::uint64_t parts_for_gpus = 24, parts_for_hosts = 128;
constexpr std::uint64_t last_on_host = 128;
// A thread may need a second for a few dozen items. The smallest batches have one item per core; there are few of them.
constexpr std::uint64_t finest_on_host = 16, finest_parts = 16;
constexpr std::uint64_t slow_ranks_parts = 64;

std::uint64_t rounded_up(std::uint64_t items, std::uint64_t to) { return (items + to - 1) / to * to; }

void cut_evenly(std::vector<batch>& batches, std::uint64_t first, std::uint64_t end, std::uint64_t batch_items) {
  const std::uint64_t count = end - first;
  const std::uint64_t pieces = (count + batch_items - 1) / batch_items;
  for (std::uint64_t p = 0; p < pieces; ++p) {
    const std::uint64_t from = first + count * p / pieces, to = first + count * (p + 1) / pieces;
    batches.push_back({batches.size(), from, to - from});
  }
}

void push(std::vector<batch>& batches, std::uint64_t first, std::uint64_t count) {
  batches.push_back({batches.size(), first, count});
}

/// Appends batches of decreasing size, starting at item `first`, until `kept` items are left. Returns the next item.
std::uint64_t cut_falling(std::vector<batch>& batches, std::uint64_t first, std::uint64_t items, std::uint64_t kept,
                          const batch_sizes& sizes) {
  // Multiples of this fill warps and SIMD vectors, and are fine enough for sizes to decrease.
  const std::uint64_t grain = std::clamp<std::uint64_t>(sizes.last / 8, 1, 256);
  while (first < items) {
    const std::uint64_t left = items - first, part = rounded_up((left + sizes.parts - 1) / sizes.parts, grain);
    const std::uint64_t count = std::min(std::clamp(part, sizes.last, sizes.largest), left);
    if (kept > 0 && count + kept > left) break;
    push(batches, first, count);
    first += count;
  }
  return first;
}

void cut(std::vector<batch>& batches, std::uint64_t items, batch_sizes sizes) {
  if (sizes.finest < sizes.last) {
    const std::uint64_t first = cut_falling(batches, 0, items, finest_parts * sizes.last, sizes);
    cut_falling(batches, first, items, 0, {sizes.last, sizes.finest, finest_parts});
    return;
  }
  const std::uint64_t slow_part = sizes.ends_for_slow_ranks ? items / slow_ranks_parts : 0;
  std::uint64_t first = cut_falling(batches, 0, items, slow_part, sizes);
  // Half of it in batches of a half of the last size, a quarter in quarters, the rest in eighths: few items for a GPU,
  // many for cores.
  for (int halvings = 1; halvings <= 3; ++halvings) {
    sizes.last = sizes.largest = std::max<std::uint64_t>(1, sizes.last / 2);
    first = cut_falling(batches, first, items, halvings == 3 ? 0 : slow_part >> halvings, sizes);
  }
}

}  // namespace

std::uint64_t last_items_on_host(std::uint64_t most) { return most < cpu_step ? 1 : last_on_host; }

batch_sizes falling_sizes(std::uint64_t largest, std::uint64_t last, std::uint64_t most) {
  if (last == 0) {
    batch_sizes sizes(largest, last_items_on_host(most), parts_for_hosts);
    sizes.finest = std::min(sizes.last, finest_on_host);
    return sizes;
  }
  return {largest, last, parts_for_gpus};
}

std::uint64_t automatic_batch_items(std::uint64_t items, std::size_t free_device_bytes,
                                    std::size_t device_bytes_per_item, int lanes, std::uint64_t most,
                                    std::uint64_t fewest) {
  // 256 batches keep CPU ranks busy to the end; a GPU needs thousands of items at once, and there are fewer GPUs.
  if (free_device_bytes == 0) {
    if (most < cpu_step) return std::clamp<std::uint64_t>(items / 256, 1, std::max<std::uint64_t>(1, most));
    return std::clamp(rounded_up(items / 256, cpu_step), cpu_step, std::max(8 * step, most / 16));
  }
  const std::uint64_t largest = std::max<std::uint64_t>(1, most);
  const double room = share_of_free_memory * static_cast<double>(free_device_bytes) /
                      (std::max(1, lanes) * static_cast<double>(std::max<std::size_t>(1, device_bytes_per_item)));
  const auto fitting = static_cast<std::uint64_t>(std::min(room, static_cast<double>(largest)));
  const std::uint64_t wanted = std::min(std::max(rounded_up(items / 64, step), fewest), largest);
  if (fitting < step) return std::max<std::uint64_t>(1, fitting);
  return std::min(wanted, fitting / step * step);
}

std::uint64_t batch_items_for_points(const std::vector<output_spec>& outputs,
                                     std::span<const std::uint64_t> point_offsets) {
  std::uint64_t bytes_per_point = 0;
  for (const output_spec& o : outputs) bytes_per_point += o.layout == output_layout::points ? o.bytes_per_item() : 0;
  const std::uint64_t items = point_offsets.empty() ? 0 : point_offsets.size() - 1;
  if (bytes_per_point == 0 || items == 0 || point_offsets.back() == 0) return std::numeric_limits<std::uint64_t>::max();
  const double bytes_per_item =
      static_cast<double>(point_offsets.back() * bytes_per_point) / static_cast<double>(items);
  return static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(point_bytes_per_batch) / bytes_per_item));
}

std::vector<batch> make_plan(partition_kind partition, std::span<const std::uint64_t> item_voxels,
                             const image_grid& grid, const batch_sizes& sizes) {
  const std::uint64_t items = item_voxels.size();
  std::vector<batch> batches;
  const bool have_slices =
      std::is_sorted(item_voxels.begin(), item_voxels.end()) && (items == 0 || item_voxels.back() != no_voxel);
  if (partition == partition_kind::voxels || !have_slices) {
    cut(batches, items, sizes);
    return batches;
  }
  const std::uint64_t slice_voxels = grid.size[0] * grid.size[1];
  for (std::uint64_t first = 0; first < items;) {
    const std::uint64_t slice_end = (item_voxels[first] / slice_voxels + 1) * slice_voxels;
    const auto last = std::lower_bound(item_voxels.begin(), item_voxels.end(), slice_end);
    const auto end = static_cast<std::uint64_t>(last - item_voxels.begin());
    cut_evenly(batches, first, end, sizes.largest);
    first = end;
  }
  return batches;
}

std::vector<std::uint64_t> first_items_of(std::span<const batch> batches) {
  std::vector<std::uint64_t> first_items;
  for (const batch& b : batches) first_items.push_back(b.first_item);
  first_items.push_back(batches.empty() ? 0 : batches.back().first_item + batches.back().item_count);
  return first_items;
}

std::vector<batch> make_batches(std::span<const std::uint64_t> first_items) {
  std::vector<batch> batches;
  for (std::uint64_t b = 0; b + 1 < first_items.size(); ++b) {
    batches.push_back({b, first_items[b], first_items[b + 1] - first_items[b]});
  }
  return batches;
}

}  // namespace voxherd
