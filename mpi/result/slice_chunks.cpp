#include "mpi/result/slice_chunks.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <vector>

#include "core/failure.hpp"
#include "core/threads.hpp"

namespace voxherd::hdf5 {

namespace {

/// Calls work(i) for i in [0, count) with several threads.
void for_each_chunk(std::size_t count, const std::function<void(std::size_t i)>& work) {
  std::atomic<std::size_t> next{0};
  const std::function<void()> take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  constexpr int max_threads = 16;  // each has a chunk or two in memory
  const int threads = std::clamp(std::min(max_compression_threads(), max_team_threads()), 1, max_threads);
  std::vector<std::future<void>> others = start_helpers(std::min(count, static_cast<std::size_t>(threads)) - 1, take);
  take();
  for (std::future<void>& other : others) other.get();
}

/// HDF5's shuffle: the first bytes of all values, then their second bytes, and so on.
std::vector<std::byte> shuffled(std::span<const std::byte> values, std::size_t value_bytes) {
  const std::size_t count = values.size() / value_bytes;
  std::vector<std::byte> planes(values.size());
  for (std::size_t b = 0; b < value_bytes; ++b)
    for (std::size_t i = 0; i < count; ++i) planes[b * count + i] = values[i * value_bytes + b];
  return planes;
}

/// The values from `first` to before `end` of a shuffled chunk.
void unshuffle(std::span<const std::byte> planes, std::size_t value_bytes, std::size_t first, std::size_t end,
               std::byte* values) {
  const std::size_t count = planes.size() / value_bytes;
  for (std::size_t b = 0; b < value_bytes; ++b)
    for (std::size_t i = first; i < end; ++i) values[(i - first) * value_bytes + b] = planes[b * count + i];
}

/// The offset of a chunk, in values along each axis.
std::vector<hsize_t> chunk_offset(const slice_chunks& box, std::uint64_t slice) {
  std::vector<hsize_t> offset(box.rank, 0);
  offset[0] = slice;
  return offset;
}

std::vector<std::byte> compress_chunk(const slice_chunks& box, std::span<const std::byte> values) {
  // As HDF5: what is beyond the dataset's last slice is zero.
  std::vector<std::byte> chunk(box.chunk_bytes());
  std::copy(values.begin(), values.end(), chunk.begin());
  const std::vector<std::byte> planes = shuffled(chunk, box.value_bytes);
  uLongf bytes = compressBound(planes.size());
  std::vector<std::byte> compressed(bytes);
  const int code = compress2(reinterpret_cast<Bytef*>(compressed.data()), &bytes,
                             reinterpret_cast<const Bytef*>(planes.data()), planes.size(), box.level);
  if (code != Z_OK) throw failure(exit_status::internal_error, "zlib could not compress a part of a map");
  compressed.resize(bytes);
  return compressed;
}

/// A compressed chunk; empty if it is missing or stored without one of the filters.
std::vector<std::byte> read_compressed(const slice_chunks& box, std::uint64_t slice) {
  const std::vector<hsize_t> offset = chunk_offset(box, slice);
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(box.dataset, offset.data(), &bytes) < 0) return {};
  if (bytes == 0 || bytes > compressBound(box.chunk_bytes())) return {};
  std::vector<std::byte> compressed(bytes);
  std::uint32_t skipped_filters = 0;
  if (H5Dread_chunk(box.dataset, H5P_DEFAULT, offset.data(), &skipped_filters, compressed.data()) < 0) return {};
  return skipped_filters == 0 ? compressed : std::vector<std::byte>();
}

/// Decompresses the chunk that begins at `slice` and copies its slices that are in the box to `values`. Returns false
/// if the chunk is damaged.
bool unpack_chunk(const slice_chunks& box, std::uint64_t slice, std::span<const std::byte> compressed,
                  std::byte* values) {
  std::vector<std::byte> planes(box.chunk_bytes());
  uLongf bytes = planes.size();
  const int code = uncompress(reinterpret_cast<Bytef*>(planes.data()), &bytes,
                              reinterpret_cast<const Bytef*>(compressed.data()), compressed.size());
  if (code != Z_OK || bytes != planes.size()) return false;
  const std::size_t slice_values = box.slice_bytes / box.value_bytes;
  const std::uint64_t first = std::max(slice, box.first), end = std::min(slice + box.chunk_slices, box.end);
  unshuffle(planes, box.value_bytes, (first - slice) * slice_values, (end - slice) * slice_values,
            values + (first - box.first) * box.slice_bytes);
  return true;
}

/// Of shuffle and deflate, in this order; -1 for other filters.
int deflate_level(hid_t creation) {
  if (H5Pget_nfilters(creation) != 2) return -1;
  std::array<H5Z_filter_t, 2> filters{};
  unsigned level = 0;
  for (unsigned i = 0; i < 2; ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 1;
    filters[i] = H5Pget_filter2(creation, i, &flags, &values, &level, 0, nullptr, &settings);
  }
  const bool is_ours = filters[0] == H5Z_FILTER_SHUFFLE && filters[1] == H5Z_FILTER_DEFLATE && level <= 9;
  return is_ours ? static_cast<int>(level) : -1;
}

}  // namespace

std::optional<slice_chunks> find_slice_chunks(hid_t dataset, hid_t type, std::span<const std::uint64_t> start,
                                              std::span<const std::uint64_t> count) {
  const handle creation(H5Dget_create_plist(dataset), H5Pclose, "HDF5 properties");
  if (H5Pget_layout(creation) != H5D_CHUNKED) return {};
  const handle own_type(H5Dget_type(dataset), H5Tclose, "HDF5 type");
  const int level = deflate_level(creation);
  if (level < 0 || H5Tequal(own_type, type) <= 0) return {};
  const std::vector<std::uint64_t> shape = shape_of(dataset);
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (shape.empty() || shape.size() != count.size() ||
      H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data()) != static_cast<int>(shape.size()))
    return {};
  slice_chunks box{.dataset = dataset,
                   .rank = shape.size(),
                   .value_bytes = H5Tget_size(type),
                   .slice_bytes = H5Tget_size(type),
                   .chunk_slices = chunk[0],
                   .level = level,
                   .first = start[0],
                   .end = start[0] + count[0],
                   .has_whole_chunks = false};
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    if (chunk[axis] != shape[axis] || start[axis] != 0 || count[axis] != shape[axis]) return {};
    box.slice_bytes *= shape[axis];
  }
  constexpr std::size_t max_chunk_bytes = 64 << 20;  // each thread has some of them in memory
  const std::uint64_t step = box.chunk_slices;
  if (box.chunk_bytes() > max_chunk_bytes || box.end > shape[0]) return {};
  if ((box.end - 1) / step == box.first / step) return {};
  box.has_whole_chunks = box.first % step == 0 && (box.end % step == 0 || box.end == shape[0]);
  return box;
}

void write_chunks(const slice_chunks& box, const std::byte* values, const std::string& what) {
  const std::uint64_t slices = box.end - box.first;
  std::vector<std::vector<std::byte>> compressed((slices + box.chunk_slices - 1) / box.chunk_slices);
  for_each_chunk(compressed.size(), [&](std::size_t i) {
    const std::uint64_t from = i * box.chunk_slices, to = std::min(from + box.chunk_slices, slices);
    compressed[i] = compress_chunk(box, {values + from * box.slice_bytes, (to - from) * box.slice_bytes});
  });
  for (std::size_t i = 0; i < compressed.size(); ++i) {
    const std::vector<hsize_t> offset = chunk_offset(box, box.first + i * box.chunk_slices);
    errno = 0;
    if (H5Dwrite_chunk(box.dataset, H5P_DEFAULT, 0, offset.data(), compressed[i].size(), compressed[i].data()) < 0)
      fail_write(what);
  }
}

bool read_chunks(const slice_chunks& box, std::byte* values) {
  constexpr std::size_t max_chunks = 64, max_bytes = 128 << 20;  // read before they are decompressed
  const std::size_t chunks_at_once = std::clamp<std::size_t>(max_bytes / box.chunk_bytes(), 1, max_chunks);
  const std::uint64_t begin = box.first / box.chunk_slices * box.chunk_slices, step = box.chunk_slices;
  for (std::uint64_t slice = begin; slice < box.end; slice += chunks_at_once * step) {
    const std::uint64_t left = (box.end - slice + step - 1) / step;
    std::vector<std::vector<std::byte>> compressed(std::min<std::uint64_t>(chunks_at_once, left));
    for (std::size_t i = 0; i < compressed.size(); ++i) {
      compressed[i] = read_compressed(box, slice + i * step);
      if (compressed[i].empty()) return false;
    }
    std::atomic<bool> is_damaged{false};
    for_each_chunk(compressed.size(), [&](std::size_t i) {
      if (!unpack_chunk(box, slice + i * step, compressed[i], values)) is_damaged = true;
    });
    if (is_damaged) return false;
  }
  return true;
}

}  // namespace voxherd::hdf5
