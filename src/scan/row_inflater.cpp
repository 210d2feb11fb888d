#include "src/scan/row_inflater.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <optional>

#include "core/threads.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/transpose.hpp"

namespace voxherd {

namespace {

constexpr std::size_t cache_line = 64;

bool is_alike(const nifti_header& a, const nifti_header& b) {
  return a.datatype == b.datatype && a.byte_swapped == b.byte_swapped && a.slope == b.slope &&
         a.intercept == b.intercept;
}

bool is_scaled(const nifti_header& h) { return h.slope != 1 || h.intercept != 0; }

}  // namespace

stored_rows::stored_rows(const std::vector<nifti_header>& files, std::uint64_t voxels) {
  for (std::size_t first = 0, last = 0; first < files.size(); first = last) {
    const nifti_header& h = files[first];
    const bool widened = h.bytes_per_value > sizeof(float);
    const nifti_converter convert = find_converter(h.datatype, h.byte_swapped, is_scaled(h));
    section s;
    s.offset = bytes_;
    s.value_bytes = widened ? sizeof(float) : h.bytes_per_value;
    s.convert = widened ? find_converter(float32_datatype, false, false) : convert;
    s.slope = h.slope;
    s.intercept = h.intercept;
    for (last = first; last < files.size() && is_alike(files[last], h); ++last) {
      places_.push_back({s.offset + s.volumes * s.value_bytes, 0, s.value_bytes, widened ? convert : nullptr});
      s.volumes += files[last].volumes;
    }
    for (std::size_t i = first; i < last; ++i) places_[i].row_bytes = s.volumes * s.value_bytes;
    sections_.push_back(s);
    volumes_ += s.volumes;
    bytes_ += (voxels * s.volumes * s.value_bytes + cache_line - 1) / cache_line * cache_line;
  }
}

double stored_rows::bytes_per_voxel(const std::vector<nifti_header>& files) {
  std::uint64_t bytes = 0;
  for (const nifti_header& h : files) bytes += h.volumes * std::min(h.bytes_per_value, sizeof(float));
  return static_cast<double>(bytes);
}

void stored_rows::load(const std::byte* memory, std::uint64_t first, std::uint64_t count, float* out,
                       std::size_t stride) const {
  for (const section& s : sections_) {
    const std::size_t row_bytes = s.volumes * s.value_bytes;
    const std::byte* row = memory + s.offset + first * row_bytes;
    const bool at_once = stride == s.volumes;
    const std::uint64_t rows = at_once ? 1 : count, values = at_once ? count * s.volumes : s.volumes;
    for (std::uint64_t i = 0; i < rows; ++i)
      s.convert(row + i * row_bytes, values, s.slope, s.intercept, out + i * stride);
    out += s.volumes;
  }
}

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
    auto turning = start_task("arranges decompressed voxels", [this, index, part] { turn_part(index, part); });
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

namespace {

/// The inflated bytes stay in the cache until the voxels are extracted.
constexpr std::uint64_t piece_voxels = 1 << 16;
/// Threads that transpose a group of volumes; limited by memory bandwidth.
constexpr unsigned max_turners = 4;

/// Extracts the chosen voxels from one volume after another.
class picker {
 public:
  picker(const nifti_header& header, const std::vector<volume_piece>& pieces, const stored_rows::place& place,
         const std::atomic<bool>& stop)
      : reader_(header), pieces_(pieces), place_(place), stop_(stop) {}

  void pick(std::uint64_t volume, std::byte* column) {
    const nifti_header& h = reader_.header();
    for (const volume_piece& piece : pieces_) {
      if (stop_) return;
      stored_.resize(std::max<std::size_t>(stored_.size(), piece.count * h.bytes_per_value));
      reader_.read_stored(volume, piece.first_voxel, piece.count, stored_.data());
      for (const voxel_run& run : piece.runs) {
        const std::byte* from = stored_.data() + (run.first_voxel - piece.first_voxel) * h.bytes_per_value;
        std::byte* to = column + run.first_item * place_.value_bytes;
        if (place_.widen == nullptr) {
          std::memcpy(to, from, run.count * place_.value_bytes);
        } else {
          place_.widen(from, run.count, h.slope, h.intercept, reinterpret_cast<float*>(to));
        }
      }
    }
  }

  bytes_after_image check_end() { return reader_.check_end(); }

 private:
  nifti_reader reader_;
  const std::vector<volume_piece>& pieces_;
  const stored_rows::place& place_;
  const std::atomic<bool>& stop_;
  std::vector<std::byte> stored_;
};

/// Nothing if the file is damaged or too short, or `stop` was set.
std::optional<bytes_after_image> inflate_by_threads(const nifti_header& header, const std::vector<volume_piece>& pieces,
                                                    std::uint64_t voxels, const stored_rows::place& place,
                                                    std::byte* memory, const parallel_gzip_settings& settings,
                                                    const std::atomic<bool>& stop) {
  std::vector<voxel_run> runs;
  for (const volume_piece& piece : pieces) runs.insert(runs.end(), piece.runs.begin(), piece.runs.end());
  const input_file file(header.path);
  row_collector rows(header, runs, voxels, place, memory, std::min(max_turners, settings.threads));
  const parallel_gzip_result result = inflate_in_parallel(file, settings, stop, rows);
  if (!rows.finish() || !result.complete) return std::nullopt;
  return bytes_after_image{result.bytes - header.data_end(), result.bytes_after};
}

}  // namespace

std::vector<volume_piece> split_into_pieces(const std::vector<std::uint64_t>& voxels) {
  std::vector<volume_piece> pieces;
  for (std::uint64_t first = 0; first < voxels.size();) {
    const auto end = std::lower_bound(voxels.begin() + static_cast<std::ptrdiff_t>(first), voxels.end(),
                                      voxels[first] + piece_voxels);
    const auto last = static_cast<std::uint64_t>(end - voxels.begin());
    pieces.push_back({voxels[first], voxels[last - 1] + 1 - voxels[first], find_runs(voxels, first, last)});
    first = last;
  }
  return pieces;
}

std::vector<volume_piece> split_into_pieces(const nifti_header& file, const std::vector<std::uint64_t>& voxels) {
  if (file.order.is_as_stored()) return split_into_pieces(voxels);
  std::vector<volume_piece> pieces;
  for (voxel_run rest : find_runs(file, voxels, 0, voxels.size()))
    while (rest.count > 0) {
      if (pieces.empty() || rest.first_voxel >= pieces.back().first_voxel + piece_voxels)
        pieces.push_back({rest.first_voxel, 0, {}});
      volume_piece& piece = pieces.back();
      const std::uint64_t some = std::min(rest.count, piece.first_voxel + piece_voxels - rest.first_voxel);
      piece.runs.push_back({rest.first_voxel, rest.first_item, some});
      piece.count = rest.first_voxel + some - piece.first_voxel;
      rest = {rest.first_voxel + some, rest.first_item + some, rest.count - some};
    }
  return pieces;
}

bytes_after_image inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces,
                               std::uint64_t voxels, const stored_rows::place& place, std::byte* memory,
                               const inflating_threads& settings, const std::atomic<bool>& stop) {
  const bool is_worth_it =
      header.compressed && settings.parallel.threads > 1 && input_file(header.path).size() >= settings.min_file_bytes;
  if (is_worth_it) {
    if (const auto after = inflate_by_threads(header, pieces, voxels, place, memory, settings.parallel, stop))
      return *after;
  }
  if (stop) return {};
  // A single thread, which also reports what is wrong with a damaged file.
  const std::uint64_t at_once = volumes_per_group(place.value_bytes, header.volumes);
  const std::size_t column_bytes = padded_column_bytes(place.value_bytes, voxels);
  const auto transposer = find_transpose(place.value_bytes);
  picker picked(header, pieces, place, stop);
  std::array<std::vector<std::byte>, 2> columns;
  std::future<void> turning;  // destroyed before the columns that it uses
  for (std::uint64_t k0 = 0; k0 < header.volumes; k0 += at_once) {
    const std::uint64_t count = std::min(at_once, header.volumes - k0);
    std::vector<std::byte>& now = columns[k0 / at_once % 2];
    now.resize(at_once * column_bytes);
    for (std::uint64_t k = 0; k < count; ++k) picked.pick(k0 + k, now.data() + k * column_bytes);
    if (stop) return {};
    if (turning.valid()) turning.get();
    std::byte* rows = memory + place.offset + k0 * place.value_bytes;
    turning = start_task("arranges decompressed voxels", [=, &place, columns = now.data()] {
      transposer(columns, column_bytes, voxels, count, rows, place.row_bytes);
    });
  }
  const bytes_after_image after = picked.check_end();
  turning.get();
  return after;
}

}  // namespace voxherd
