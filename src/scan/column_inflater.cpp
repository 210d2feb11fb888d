#include "src/scan/column_inflater.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

/// A multiple of the size of each type.
constexpr std::size_t column_alignment = 64;

bool is_scaled(const nifti_header& h) { return h.slope != 1 || h.intercept != 0; }

/// Copies values to a column.
void store_values(const nifti_header& h, const stored_columns::place& place, const std::byte* from, std::uint64_t count,
                  std::byte* to) {
  if (place.widen == nullptr) {
    std::memcpy(to, from, count * place.value_bytes);
  } else {
    place.widen(from, count, h.slope, h.intercept, reinterpret_cast<float*>(to));
  }
}

}  // namespace

stored_columns::stored_columns(const std::vector<nifti_header>& files, std::uint64_t voxels)
    : volumes_(list_volumes(files)) {
  for (const nifti_header& h : files) {
    const bool widened = h.bytes_per_value > sizeof(float);
    const nifti_converter convert = find_converter(h.datatype, h.byte_swapped, is_scaled(h));
    file_columns f;
    f.where.offset = bytes_;
    f.where.value_bytes = widened ? sizeof(float) : h.bytes_per_value;
    f.where.column_bytes = (voxels * f.where.value_bytes + column_alignment - 1) / column_alignment * column_alignment;
    f.where.widen = widened ? convert : nullptr;
    f.convert = widened ? find_converter(float32_datatype, false, false) : convert;
    f.slope = h.slope;
    f.intercept = h.intercept;
    files_.push_back(f);
    bytes_ += h.volumes * f.where.column_bytes;
  }
}

double stored_columns::bytes_per_voxel(const std::vector<nifti_header>& files) {
  std::uint64_t bytes = 0;
  for (const nifti_header& h : files) bytes += h.volumes * std::min(h.bytes_per_value, sizeof(float));
  return static_cast<double>(bytes);
}

void stored_columns::load(const std::byte* memory, std::uint64_t volume, std::uint64_t first, std::uint64_t count,
                          float* out) const {
  const file_columns& f = files_[volumes_[volume].file];
  const place& w = f.where;
  const std::byte* const column = memory + w.offset + volumes_[volume].volume * w.column_bytes;
  f.convert(column + first * w.value_bytes, count, f.slope, f.intercept, out);
}

column_collector::column_collector(const nifti_header& header, const std::vector<voxel_run>& runs,
                                   const stored_columns::place& place, std::byte* memory)
    : header_(header),
      runs_(runs),
      grid_voxels_(header.grid.voxel_count()),
      place_(place),
      memory_(memory),
      values_left_(header.volumes * grid_voxels_) {}

void column_collector::take(std::uint64_t position, const std::byte* bytes, std::size_t count) {
  const std::uint64_t begin = header_.data_offset, end = header_.data_end();
  const std::uint64_t from = std::max(position, begin), to = std::min(position + count, end);
  if (from < to) take_part(from - begin, bytes + (from - position), to - from);
}

/// Takes data bytes from `offset` on: complete values, and parts of a split value.
void column_collector::take_part(std::uint64_t offset, const std::byte* bytes, std::size_t count) {
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

void column_collector::take_values(std::uint64_t first_value, std::uint64_t count, const std::byte* bytes) {
  while (count > 0) {
    const std::uint64_t volume = first_value / grid_voxels_, voxel = first_value % grid_voxels_;
    const std::uint64_t some = std::min(count, grid_voxels_ - voxel);
    pick(voxel, some, bytes, memory_ + place_.offset + volume * place_.column_bytes);
    values_left_ -= some;
    first_value += some;
    count -= some;
    bytes += some * header_.bytes_per_value;
  }
}

void column_collector::pick(std::uint64_t first_voxel, std::uint64_t count, const std::byte* bytes,
                            std::byte* column) const {
  const std::uint64_t end_voxel = first_voxel + count;
  auto run = std::partition_point(runs_.begin(), runs_.end(),
                                  [&](const voxel_run& r) { return r.first_voxel + r.count <= first_voxel; });
  for (; run != runs_.end() && run->first_voxel < end_voxel; ++run) {
    const std::uint64_t from = std::max(run->first_voxel, first_voxel);
    const std::uint64_t some = std::min(run->first_voxel + run->count, end_voxel) - from;
    const std::byte* const stored = bytes + (from - first_voxel) * header_.bytes_per_value;
    std::byte* const to = column + (run->first_item + (from - run->first_voxel)) * place_.value_bytes;
    store_values(header_, place_, stored, some, to);
  }
}

namespace {

/// The inflated bytes stay in the cache until the voxels are extracted.
constexpr std::uint64_t piece_voxels = 1 << 16;

/// Extracts the chosen voxels from one volume after another.
class picker {
 public:
  picker(const nifti_header& header, const std::vector<volume_piece>& pieces, const stored_columns::place& place,
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
        store_values(h, place_, from, run.count, column + run.first_item * place_.value_bytes);
      }
    }
  }

  bytes_after_image check_end() { return reader_.check_end(); }

 private:
  nifti_reader reader_;
  const std::vector<volume_piece>& pieces_;
  const stored_columns::place& place_;
  const std::atomic<bool>& stop_;
  std::vector<std::byte> stored_;
};

/// Nothing if the file is damaged or too short, or `stop` was set.
std::optional<bytes_after_image> inflate_by_threads(const nifti_header& header, const std::vector<volume_piece>& pieces,
                                                    const stored_columns::place& place, std::byte* memory,
                                                    const parallel_gzip_settings& settings,
                                                    const std::atomic<bool>& stop) {
  std::vector<voxel_run> runs;
  for (const volume_piece& piece : pieces) runs.insert(runs.end(), piece.runs.begin(), piece.runs.end());
  const input_file file(header.path);
  column_collector columns(header, runs, place, memory);
  const parallel_gzip_result result = inflate_in_parallel(file, settings, stop, columns);
  if (!columns.is_complete() || !result.complete) return std::nullopt;
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
                               const stored_columns::place& place, std::byte* memory, const inflating_threads& settings,
                               const std::atomic<bool>& stop) {
  const bool is_worth_it =
      header.compressed && settings.parallel.threads > 1 && input_file(header.path).size() >= settings.min_file_bytes;
  if (is_worth_it) {
    if (const auto after = inflate_by_threads(header, pieces, place, memory, settings.parallel, stop)) return *after;
  }
  if (stop) return {};
  // A single thread, which also reports what is wrong with a damaged file.
  picker picked(header, pieces, place, stop);
  for (std::uint64_t k = 0; k < header.volumes; ++k) {
    picked.pick(k, memory + place.offset + k * place.column_bytes);
    if (stop) return {};
  }
  return picked.check_end();
}

}  // namespace voxherd
