#include "src/scan/voxel_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/scan/transpose.hpp"

namespace voxherd {

std::uint64_t total_volumes(const std::vector<nifti_header>& files) {
  std::uint64_t volumes = 0;
  for (const nifti_header& file : files) volumes += file.volumes;
  return volumes;
}

bool is_compressed(const std::vector<nifti_header>& files) {
  return std::any_of(files.begin(), files.end(), [](const nifti_header& h) { return h.compressed; });
}

std::vector<voxel_run> find_runs(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last) {
  std::vector<voxel_run> runs;
  for (std::uint64_t item = first; item < last;) {
    std::uint64_t end = item + 1;
    while (end < last && voxels[end] == voxels[end - 1] + 1) ++end;
    runs.push_back({voxels[item], item, end - item});
    item = end;
  }
  return runs;
}

std::vector<voxel_run> find_runs(const nifti_header& file, const std::vector<std::uint64_t>& voxels,
                                 std::uint64_t first, std::uint64_t last) {
  if (file.order.is_as_stored()) return find_runs(voxels, first, last);
  const stored_places place(file.grid.size, file.order);
  std::vector<voxel_run> single;
  single.reserve(last - first);
  for (std::uint64_t item = first; item < last; ++item) single.push_back({place(voxels[item]), item, 1});
  std::sort(single.begin(), single.end(),
            [](const voxel_run& a, const voxel_run& b) { return a.first_voxel < b.first_voxel; });
  std::vector<voxel_run> runs;
  for (const voxel_run& one : single) {
    const bool continues = !runs.empty() && one.first_voxel == runs.back().first_voxel + runs.back().count &&
                           one.first_item == runs.back().first_item + runs.back().count;
    if (continues) {
      ++runs.back().count;
    } else {
      runs.push_back(one);
    }
  }
  return runs;
}

namespace {

/// Floats per chunk, all volumes together. Longer reads save system calls, shorter ones stay in a faster cache: 8 MiB
/// was within 10 % of the best from 0.25 to 64 MiB for 288 volumes (6 GB/s from a cached file, one thread).
constexpr std::size_t chunk_floats = std::size_t{1} << 21;
constexpr std::size_t min_chunk_items = 64;
/// Up to this size, reading a gap is faster than another system call.
constexpr std::uint64_t largest_gap_bytes = 16384;
constexpr std::uint64_t longest_read_bytes = 1 << 20;
/// Avoids mapping all columns to the same cache sets when the chunk length is a power of two.
constexpr std::size_t column_padding = 16;

/// One open file.
struct plain_image {
  explicit plain_image(const nifti_header& h)
      : header(h),
        file(h.path),
        convert(find_converter(h.datatype, h.byte_swapped, h.slope != 1 || h.intercept != 0)) {}

  std::uint64_t byte_offset(std::uint64_t volume, std::uint64_t voxel) const {
    return header.data_offset + (volume * header.grid.voxel_count() + voxel) * header.bytes_per_value;
  }

  nifti_header header;
  input_file file;
  nifti_converter convert;
};

/// Voxels [first, end) of a file, of which some are chosen.
struct stored_span {
  std::uint64_t first, end;
  std::vector<voxel_run> runs;
};

/// Items [first, end) of the selection, read at once.
struct item_chunk {
  std::uint64_t first, end;
};

/// Reads chunks of items from open files, which several threads share. For one thread.
class chunk_reader {
 public:
  chunk_reader(const std::vector<plain_image>& images, const std::vector<std::uint64_t>& voxels, std::uint64_t volumes,
               std::size_t max_items)
      : images_(images),
        voxels_(voxels),
        volumes_(volumes),
        column_stride_(max_items + column_padding),
        columns_(column_stride_ * volumes) {}

  /// Writes the row of each item to out + i * stride, i from 0.
  void read(const item_chunk& chunk, float* out, std::size_t stride) {
    gather(chunk);
    transpose(columns_.data(), column_stride_, chunk.end - chunk.first, volumes_, out, stride);
  }

 private:
  void gather(const item_chunk& chunk) {
    storage_order order = images_.front().header.order;
    std::vector<stored_span> spans = find_spans(images_.front().header, chunk);
    float* column = columns_.data();
    for (const plain_image& image : images_) {
      const nifti_header& h = image.header;
      if (h.order != order) spans = find_spans(h, chunk);
      order = h.order;
      for (std::uint64_t k = 0; k < h.volumes; ++k, column += column_stride_)
        for (const stored_span& span : spans) read_span(image, k, span, column, chunk.first);
    }
  }

  /// What is read at once. A chunk of voxels in the file's own order is one span.
  std::vector<stored_span> find_spans(const nifti_header& file, const item_chunk& chunk) const {
    std::vector<stored_span> spans;
    for (const voxel_run& run : find_runs(file, voxels_, chunk.first, chunk.end)) {
      const std::uint64_t run_end = run.first_voxel + run.count;
      const bool joins =
          !spans.empty() && (file.order.is_as_stored() ||
                             ((run.first_voxel - spans.back().end) * file.bytes_per_value <= largest_gap_bytes &&
                              (run_end - spans.back().first) * file.bytes_per_value <= longest_read_bytes));
      if (!joins) spans.push_back({run.first_voxel, run_end, {}});
      spans.back().end = run_end;
      spans.back().runs.push_back(run);
    }
    return spans;
  }

  void read_span(const plain_image& image, std::uint64_t volume, const stored_span& span, float* column,
                 std::uint64_t first_item) {
    const nifti_header& h = image.header;
    const std::uint64_t bytes = (span.end - span.first) * h.bytes_per_value;
    stored_.resize(std::max(stored_.size(), bytes));
    image.file.read(image.byte_offset(volume, span.first), stored_.data(), bytes);
    for (const voxel_run& run : span.runs)
      image.convert(stored_.data() + (run.first_voxel - span.first) * h.bytes_per_value, run.count, h.slope,
                    h.intercept, column + (run.first_item - first_item));
  }

  const std::vector<plain_image>& images_;
  const std::vector<std::uint64_t>& voxels_;
  std::uint64_t volumes_;
  std::size_t column_stride_;
  std::vector<float> columns_;
  std::vector<std::byte> stored_;
};

class plain_rows : public voxel_rows {
 public:
  plain_rows(const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels, int threads)
      : voxels_(voxels),
        volumes_(total_volumes(files)),
        threads_(static_cast<std::size_t>(threads)),
        max_items_(std::max(chunk_floats / volumes_, min_chunk_items)) {
    for (const nifti_header& h : files) {
      images_.emplace_back(h);
      max_bytes_per_value_ = std::max(max_bytes_per_value_, h.bytes_per_value);
    }
    readers_.resize(threads_);
  }

  void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) override {
    announce(first, first + count);
    const std::vector<item_chunk> chunks = cut(first, first + count);
    std::atomic<std::size_t> next_chunk{0}, next_reader{0};
    const auto work = [&] {
      auto& reader = readers_[next_reader++];
      if (!reader) reader.emplace(images_, voxels_, volumes_, max_items_);
      for (std::size_t i = next_chunk++; i < chunks.size(); i = next_chunk++)
        reader->read(chunks[i], out + (chunks[i].first - first) * stride, stride);
    };
    auto others = start_helpers(std::min(threads_, std::max<std::size_t>(1, chunks.size())) - 1, work);
    work();
    for (auto& other : others) other.get();
  }

 private:
  /// Announces the reads of all volumes, so that later parts arrive from the disk or network while earlier ones are
  /// used.
  void announce(std::uint64_t first, std::uint64_t last) const {
    if (first == last) return;
    for (const plain_image& image : images_) {
      if (!image.header.order.is_as_stored()) continue;
      const std::uint64_t bytes = (voxels_[last - 1] + 1 - voxels_[first]) * image.header.bytes_per_value;
      for (std::uint64_t k = 0; k < image.header.volumes; ++k)
        image.file.will_need(image.byte_offset(k, voxels_[first]), bytes);
    }
  }

  /// For all threads if there are enough items: each chunk is read from every volume by a system call.
  std::vector<item_chunk> cut(std::uint64_t first, std::uint64_t last) const {
    constexpr std::uint64_t min_items_per_thread = 4096;
    const std::uint64_t items = std::min(std::max((last - first) / threads_, min_items_per_thread), max_items_);
    std::vector<item_chunk> chunks;
    for (std::uint64_t item = first; item < last; item = chunks.back().end)
      chunks.push_back({item, chunk_end(item, std::min(last, item + items))});
    return chunks;
  }

  std::uint64_t chunk_end(std::uint64_t item, std::uint64_t last) const {
    const std::uint64_t bytes = max_bytes_per_value_;
    std::uint64_t end = item + 1;
    while (end < last && (voxels_[end] - voxels_[end - 1]) * bytes <= largest_gap_bytes &&
           (voxels_[end] + 1 - voxels_[item]) * bytes <= longest_read_bytes) {
      ++end;
    }
    return end;
  }

  const std::vector<std::uint64_t>& voxels_;
  std::uint64_t volumes_;
  std::size_t threads_;
  std::vector<plain_image> images_;
  std::size_t max_bytes_per_value_ = 1;
  std::uint64_t max_items_;  ///< of a chunk
  std::vector<std::optional<chunk_reader>> readers_;
};

}  // namespace

void check_room(const batch& b, std::size_t items, std::size_t stride, std::span<const float> out) {
  if (b.first_item + b.item_count <= items && b.item_count * stride <= out.size()) return;
  throw failure(exit_status::internal_error,
                fmt::format("batch {}: {} items from {} do not fit {} voxels and {} floats", b.number, b.item_count,
                            b.first_item, items, out.size()));
}

std::unique_ptr<voxel_rows> open_plain_rows(const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, int threads) {
  return std::make_unique<plain_rows>(files, voxels, threads);
}

}  // namespace voxherd
