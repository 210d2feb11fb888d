#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "src/io/gzip/gzip.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_convert.hpp"

namespace voxherd {

struct nifti_reader::state {
  explicit state(nifti_header h) : header(std::move(h)), file(header.path) {
    if (header.compressed) stream.emplace(file);
    convert = find_converter(header.datatype, header.byte_swapped, header.slope != 1 || header.intercept != 0);
  }

  /// Throws failure (internal_error) for voxels outside the image.
  std::uint64_t byte_offset(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count) const {
    const std::uint64_t voxels = header.grid.voxel_count();
    if (volume >= header.volumes || first_voxel > voxels || count > voxels - first_voxel) {
      throw failure(
          exit_status::internal_error,
          fmt::format("{}: requested voxels {} to {} of volume {}, but the image has {} voxels and {} volumes",
                      printable(header.path), first_voxel, first_voxel + count, volume, voxels, header.volumes));
    }
    return header.data_offset + (volume * voxels + first_voxel) * header.bytes_per_value;
  }

  void read(std::uint64_t offset, std::size_t bytes, std::byte* out) {
    if (!stream) {
      file.read(offset, out, bytes);
      return;
    }
    if (stream->position() != offset) stream->seek(offset);
    stream->read(out, bytes);
    if (offset + bytes == header.data_end()) finish();
  }

  /// The checksums are at the end of the stream, which a damaged byte may have moved beyond the end of the image.
  void finish() {
    if (stream->position() < header.data_end()) stream->seek(header.data_end());
    after.inflated = stream->position() - header.data_end() + stream->finish();
    after.stored = stream->bytes_after_members();
  }

  nifti_header header;
  input_file file;
  std::optional<gzip_stream> stream;
  bytes_after_image after;
  nifti_converter convert = nullptr;
  std::vector<std::byte> stored;
};

nifti_reader::nifti_reader(nifti_header header) : state_(std::make_unique<state>(std::move(header))) {}
nifti_reader::~nifti_reader() = default;
nifti_reader::nifti_reader(nifti_reader&&) noexcept = default;

const nifti_header& nifti_reader::header() const { return state_->header; }

void nifti_reader::read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, float* out) {
  state& s = *state_;
  const nifti_header& h = s.header;
  const std::uint64_t offset = s.byte_offset(volume, first_voxel, count);
  constexpr std::uint64_t piece = 1 << 16;  // values that stay in the cache between reading and conversion
  for (std::uint64_t done = 0; done < count; done += piece) {
    const std::uint64_t n = std::min(piece, count - done);
    s.stored.resize(std::max<std::size_t>(s.stored.size(), n * h.bytes_per_value));
    s.read(offset + done * h.bytes_per_value, n * h.bytes_per_value, s.stored.data());
    s.convert(s.stored.data(), n, h.slope, h.intercept, out + done);
  }
}

void nifti_reader::read_stored(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, std::byte* out) {
  state_->read(state_->byte_offset(volume, first_voxel, count), count * header().bytes_per_value, out);
}

bytes_after_image nifti_reader::check_end() {
  state& s = *state_;
  if (s.stream && s.stream->position() < s.header.data_end()) s.finish();
  return s.after;
}

void log_bytes_after(const nifti_header& header, const bytes_after_image& bytes) {
  const std::string name = printable(header.path);
  if (bytes.inflated > 0) spdlog::warn("{}: {} bytes follow the data; ignored", name, bytes.inflated);
  if (bytes.stored > 0)
    spdlog::warn("{}: {} bytes that are not gzip follow the compressed data; ignored", name, bytes.stored);
}

std::vector<float> read_volume(const nifti_header& header, std::uint64_t volume) {
  std::vector<float> values(header.grid.voxel_count());
  nifti_reader reader(header);
  reader.read(volume, 0, values.size(), values.data());
  log_bytes_after(header, reader.check_end());
  return values;
}

}  // namespace voxherd
