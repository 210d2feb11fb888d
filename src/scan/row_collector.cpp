#include "src/scan/row_collector.hpp"

#include <algorithm>
#include <cstring>

#include "src/scan/transpose.hpp"

namespace voxherd {

row_collector::row_collector(const nifti_header& header, const std::vector<voxel_run>& runs, std::uint64_t voxels,
                             const stored_rows::place& place, std::byte* memory, unsigned turners)
    : header_(header),
      runs_(runs),
      voxels_(voxels),
      grid_voxels_(header.grid.voxel_count()),
      place_(place),
      memory_(memory),
      volumes_at_once_(volumes_per_group(place.value_bytes, header.volumes)),
      column_bytes_(padded_column_bytes(place.value_bytes, voxels)),
      turners_(std::max(1U, turners)),
      groups_((header.volumes + volumes_at_once_ - 1) / volumes_at_once_) {
  for (auto& columns : columns_) columns.resize(volumes_at_once_ * column_bytes_);
  for (std::uint64_t i = 0; i < groups_.size(); ++i) {
    groups_[i].values_left = std::min(volumes_at_once_, header.volumes - i * volumes_at_once_) * grid_voxels_;
    groups_[i].turners_left = turners_;
  }
}

row_collector::~row_collector() { cancel(); }

void row_collector::take(std::uint64_t position, const std::byte* bytes, std::size_t count) {
  const std::uint64_t begin = header_.data_offset, end = header_.data_end();
  const std::uint64_t from = std::max(position, begin), to = std::min(position + count, end);
  if (from < to) take_part(from - begin, bytes + (from - position), to - from);
}

/// Takes data bytes from `offset` on: complete values, and parts of a split value.
void row_collector::take_part(std::uint64_t offset, const std::byte* bytes, std::size_t count) {
  const std::size_t width = header_.bytes_per_value;
  const auto split = [&](std::size_t part) {
    const std::uint64_t value = offset / width;
    split_value joined;
    {
      const std::lock_guard lock(mutex_);
      split_value& found = split_[value];
      std::memcpy(found.bytes.data() + offset % width, bytes, part);
      found.found += part;
      joined = found;
      if (joined.found == width) split_.erase(value);
    }
    if (joined.found == width) take_values(value, 1, joined.bytes.data());
    offset += part;
    bytes += part;
    count -= part;
  };
  if (offset % width != 0) split(std::min(count, width - offset % width));
  const std::size_t values = count / width;
  take_values(offset / width, values, bytes);
  offset += values * width;
  bytes += values * width;
  count -= values * width;
  if (count > 0) split(count);
}

void row_collector::take_values(std::uint64_t first_value, std::uint64_t count, const std::byte* bytes) {
  while (count > 0) {
    const std::uint64_t volume = first_value / grid_voxels_, voxel = first_value % grid_voxels_;
    const std::uint64_t some = std::min(count, grid_voxels_ - voxel), index = volume / volumes_at_once_;
    if (!wait_for_columns(index)) return;
    pick(voxel, some, bytes, group_columns(index) + volume % volumes_at_once_ * column_bytes_);
    if (groups_[index].values_left.fetch_sub(some) == some) turn(index);
    first_value += some;
    count -= some;
    bytes += some * header_.bytes_per_value;
  }
}

/// Waits until the previous group in these columns has been transposed. False if waiting was cancelled.
bool row_collector::wait_for_columns(std::uint64_t index) {
  if (index < slots) return true;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return given_up_ || groups_[index - slots].is_turned; });
  return !given_up_;
}

void row_collector::pick(std::uint64_t first_voxel, std::uint64_t count, const std::byte* bytes,
                         std::byte* column) const {
  const std::uint64_t end_voxel = first_voxel + count;
  auto run = std::partition_point(runs_.begin(), runs_.end(),
                                  [&](const voxel_run& r) { return r.first_voxel + r.count <= first_voxel; });
  for (; run != runs_.end() && run->first_voxel < end_voxel; ++run) {
    const std::uint64_t from = std::max(run->first_voxel, first_voxel);
    const std::uint64_t some = std::min(run->first_voxel + run->count, end_voxel) - from;
    const std::byte* const stored = bytes + (from - first_voxel) * header_.bytes_per_value;
    std::byte* const to = column + (run->first_item + (from - run->first_voxel)) * place_.value_bytes;
    if (place_.widen == nullptr) {
      std::memcpy(to, stored, some * place_.value_bytes);
    } else {
      place_.widen(stored, some, header_.slope, header_.intercept, reinterpret_cast<float*>(to));
    }
  }
}

void row_collector::turn(std::uint64_t index) {
  for (unsigned part = 0; part < turners_; ++part) {
    auto turning = std::async(std::launch::async, [this, index, part] { turn_part(index, part); });
    const std::lock_guard lock(mutex_);
    turning_.push_back(std::move(turning));
  }
}

void row_collector::turn_part(std::uint64_t index, unsigned part) {
  const std::uint64_t lines = voxels_ / cache_line_bytes + 1;
  const auto first_row = [&](std::uint64_t p) { return std::min(voxels_, lines * p / turners_ * cache_line_bytes); };
  const std::uint64_t first = first_row(part), end = first_row(part + 1), volume = index * volumes_at_once_;
  std::byte* const rows = memory_ + place_.offset + first * place_.row_bytes + volume * place_.value_bytes;
  find_transpose(place_.value_bytes)(group_columns(index) + first * place_.value_bytes, column_bytes_, end - first,
                                     std::min(volumes_at_once_, header_.volumes - volume), rows, place_.row_bytes);
  if (groups_[index].turners_left.fetch_sub(1) != 1) return;
  const std::lock_guard lock(mutex_);
  groups_[index].is_turned = true;
  changed_.notify_all();
}

void row_collector::cancel() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
}

bool row_collector::finish() {
  for (auto& turning : turning_) turning.get();
  turning_.clear();
  return std::all_of(groups_.begin(), groups_.end(), [](const group& g) { return g.is_turned; });
}

}  // namespace voxherd
