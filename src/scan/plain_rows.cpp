#include <algorithm>
#include <memory>

#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

/// Up to this size, reading a gap is faster than another system call.
constexpr std::uint64_t largest_gap_bytes = 16384;
constexpr std::uint64_t longest_read_bytes = 1 << 20;

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

class plain_rows final : public voxel_rows {
 public:
  plain_rows(const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels, int threads)
      : voxel_rows(total_volumes(files), threads), voxels_(voxels), places_(list_volumes(files)) {
    for (const nifti_header& h : files) {
      images_.emplace_back(h);
      max_bytes_per_value_ = std::max(max_bytes_per_value_, h.bytes_per_value);
    }
  }

 private:
  /// Announces the reads of all volumes, so that later parts arrive from the disk or network while earlier ones are
  /// used.
  void begin_load(std::uint64_t first, std::uint64_t last) override {
    if (first == last) return;
    for (const std::uint32_t k : volumes()) {
      const plain_image& image = images_[places_[k].file];
      if (!image.header.order.is_as_stored()) continue;
      const std::uint64_t bytes = (voxels_[last - 1] + 1 - voxels_[first]) * image.header.bytes_per_value;
      image.file.will_need(image.byte_offset(places_[k].volume, voxels_[first]), bytes);
    }
  }

  std::uint64_t chunk_end(std::uint64_t item, std::uint64_t last) const override {
    const std::uint64_t bytes = max_bytes_per_value_;
    std::uint64_t end = item + 1;
    while (end < last && (voxels_[end] - voxels_[end - 1]) * bytes <= largest_gap_bytes &&
           (voxels_[end] + 1 - voxels_[item]) * bytes <= longest_read_bytes) {
      ++end;
    }
    return end;
  }

  void gather(const value_block& block, std::vector<std::byte>& stored, float* column,
              std::size_t stride) const override {
    storage_order order = images_.front().header.order;
    std::vector<stored_span> spans = find_spans(images_.front().header, block);
    for (std::uint64_t k = block.first_volume; k < block.end_volume; ++k, column += stride) {
      const file_volume& place = places_[volumes()[k]];
      const plain_image& image = images_[place.file];
      if (image.header.order != order) spans = find_spans(image.header, block);
      order = image.header.order;
      for (const stored_span& span : spans) read_span(image, place.volume, span, stored, column, block.first_item);
    }
  }

  /// What is read at once. A block of voxels in the file's own order is one span.
  std::vector<stored_span> find_spans(const nifti_header& file, const value_block& block) const {
    std::vector<stored_span> spans;
    for (const voxel_run& run : find_runs(file, voxels_, block.first_item, block.end_item)) {
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

  static void read_span(const plain_image& image, std::uint64_t volume, const stored_span& span,
                        std::vector<std::byte>& stored, float* column, std::uint64_t first_item) {
    const nifti_header& h = image.header;
    const std::uint64_t bytes = (span.end - span.first) * h.bytes_per_value;
    stored.resize(std::max(stored.size(), bytes));
    image.file.read(image.byte_offset(volume, span.first), stored.data(), bytes);
    for (const voxel_run& run : span.runs)
      image.convert(stored.data() + (run.first_voxel - span.first) * h.bytes_per_value, run.count, h.slope, h.intercept,
                    column + (run.first_item - first_item));
  }

  const std::vector<std::uint64_t>& voxels_;
  std::vector<file_volume> places_;
  std::vector<plain_image> images_;
  std::size_t max_bytes_per_value_ = 1;
};

}  // namespace

std::unique_ptr<voxel_rows> open_plain_rows(const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, int threads) {
  return std::make_unique<plain_rows>(files, voxels, threads);
}

}  // namespace voxherd
