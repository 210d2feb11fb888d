#include "src/scan/row_inflater.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <optional>

#include "src/io/input_file.hpp"
#include "src/scan/row_collector.hpp"
#include "src/scan/transpose.hpp"

namespace voxherd {

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
    turning =
        std::async(std::launch::async, transposer, now.data(), column_bytes, voxels, count, rows, place.row_bytes);
  }
  const bytes_after_image after = picked.check_end();
  turning.get();
  return after;
}

}  // namespace voxherd
