#include "src/input/row_inflater.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>

#include "src/input/transpose.hpp"

namespace voxherd {

namespace {

/// What is inflated stays in the cache until the voxels are picked out of it.
constexpr std::uint64_t piece_voxels = 1 << 16;
constexpr std::size_t cache_line = 64;

template <class Number>
void transpose_as(const std::byte* columns, std::size_t column_bytes, std::size_t rows, std::size_t volumes,
                  std::byte* out, std::size_t row_bytes) {
  transpose(reinterpret_cast<const Number*>(columns), column_bytes / sizeof(Number), rows, volumes,
            reinterpret_cast<Number*>(out), row_bytes / sizeof(Number));
}

/// For values of 1, 2 or 4 bytes, whatever they mean.
auto transposer_of(std::size_t value_bytes) {
  return value_bytes == 1   ? transpose_as<std::uint8_t>
         : value_bytes == 2 ? transpose_as<std::uint16_t>
                            : transpose_as<std::uint32_t>;
}

/// Picks the chosen voxels out of one volume after another.
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

  void check_end() { reader_.check_end(); }

 private:
  nifti_reader reader_;
  const std::vector<volume_piece>& pieces_;
  const stored_rows::place& place_;
  const std::atomic<bool>& stop_;
  std::vector<std::byte> stored_;
};

}  // namespace

std::vector<volume_piece> pieces_of(const std::vector<std::uint64_t>& voxels) {
  std::vector<volume_piece> pieces;
  for (std::uint64_t first = 0; first < voxels.size();) {
    const auto end = std::lower_bound(voxels.begin() + static_cast<std::ptrdiff_t>(first), voxels.end(),
                                      voxels[first] + piece_voxels);
    const auto last = static_cast<std::uint64_t>(end - voxels.begin());
    pieces.push_back({voxels[first], voxels[last - 1] + 1 - voxels[first], runs_of(voxels, first, last)});
    first = last;
  }
  return pieces;
}

void inflate_file(const nifti_header& header, const std::vector<volume_piece>& pieces, std::uint64_t voxels,
                  const stored_rows::place& place, std::byte* memory, const std::atomic<bool>& stop) {
  const std::uint64_t at_once = std::min<std::uint64_t>(cache_line / place.value_bytes, header.volumes);
  // A line more keeps columns from meeting in the same cache sets where there is a power of two of voxels.
  const std::size_t column_bytes = (voxels * place.value_bytes / cache_line + 2) * cache_line;
  const auto transposer = transposer_of(place.value_bytes);
  picker picked(header, pieces, place, stop);
  std::array<std::vector<std::byte>, 2> columns;
  std::future<void> turning;  // goes before the columns do
  for (std::uint64_t k0 = 0; k0 < header.volumes; k0 += at_once) {
    const std::uint64_t count = std::min(at_once, header.volumes - k0);
    std::vector<std::byte>& now = columns[k0 / at_once % 2];
    now.resize(at_once * column_bytes);
    for (std::uint64_t k = 0; k < count; ++k) picked.pick(k0 + k, now.data() + k * column_bytes);
    if (stop) return;
    if (turning.valid()) turning.get();
    std::byte* rows = memory + place.offset + k0 * place.value_bytes;
    turning =
        std::async(std::launch::async, transposer, now.data(), column_bytes, voxels, count, rows, place.row_bytes);
  }
  picked.check_end();
  turning.get();
}

}  // namespace voxherd
