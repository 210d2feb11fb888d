#include "src/io/nifti/nifti.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/main_memory.hpp"
#include "src/io/gzip/gzip.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti_format.hpp"

namespace voxherd {

namespace {

constexpr std::size_t longest_header = 540;
/// Deflate expands one byte to at most 1032 bytes (zlib's technical notes).
constexpr std::uint64_t largest_gzip_ratio = 1032;

/// The first bytes of the image, inflated if necessary.
class front {
 public:
  explicit front(const input_file& file) : file_(file), compressed_(is_gzip(file)) {}
  bool compressed() const { return compressed_; }

  std::vector<std::byte> read(std::uint64_t offset, std::size_t bytes) const {
    std::vector<std::byte> out(bytes);
    if (compressed_) {
      gzip_stream stream(file_);
      stream.seek(offset);
      out.resize(stream.read_some(out.data(), bytes));
    } else {
      out.resize(file_.read_some(offset, out.data(), bytes));
    }
    return out;
  }

 private:
  const input_file& file_;
  bool compressed_;
};

/// A dimension of 0 beyond the third is 1, as FSL and MRtrix read it.
void check_dimensions(nifti_fields& f, std::size_t most, const std::string& name, std::vector<std::string>& warnings) {
  if (f.dim[0] < 1 || f.dim[0] > 7)
    refuse_data("{}: dim[0] is {}, expected 1 to 7 (the number of dimensions)", name, f.dim[0]);
  for (std::size_t i = 1; i <= static_cast<std::size_t>(f.dim[0]); ++i) {
    const std::string field = fmt::format("dim[{}]", i);
    if (i > 3 && f.dim[i] == 0) {
      f.dim[i] = 1;
      warnings.push_back(field + " is 0, read as 1");
    }
    if (f.dim[i] < 1) refuse_data("{}: {} is {}, expected at least 1", name, field, f.dim[i]);
    if (i > most && f.dim[i] > 1)
      refuse_data("{}: {} is {}, expected 1: an image of at most {} dimensions", name, field, f.dim[i],
                  most == 4 ? "four" : "five");
  }
}

std::uint64_t extent(const nifti_fields& f, std::size_t axis) {
  return axis <= static_cast<std::size_t>(f.dim[0]) ? static_cast<std::uint64_t>(f.dim[axis]) : 1;
}

/// Number of bytes of all values. Each dimension is below 2^63, so the product is checked for overflow at each step.
std::uint64_t check_data_bytes(const nifti_fields& f, const std::string& name) {
  constexpr unsigned __int128 most = std::uint64_t{1} << 62;
  unsigned __int128 bytes = datatype_bytes(f.datatype);
  for (std::size_t axis = 1; axis <= 5; ++axis) {
    bytes *= extent(f, axis);
    if (bytes > most) {
      refuse_data("{}: dim is {} x {} x {} x {}, expected a product that fits a file", name, extent(f, 1), extent(f, 2),
                  extent(f, 3), extent(f, 4));
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

/// bitpix follows from the datatype, which alone is used, as by other programs.
void check_type(const nifti_fields& f, const std::string& name, std::vector<std::string>& warnings) {
  const std::size_t bytes = datatype_bytes(f.datatype);
  if (bytes == 0) {
    refuse_data(
        "{}: datatype is {} ({}), expected a real type: int8 to int64, uint8 to uint64, float32 or float64; convert "
        "the image",
        name, f.datatype, datatype_name(f.datatype));
  }
  if (f.bitpix != static_cast<int>(8 * bytes)) {
    warnings.push_back(fmt::format("bitpix is {}, expected {} for datatype {} ({}); ignored", f.bitpix, 8 * bytes,
                                   f.datatype, datatype_name(f.datatype)));
  }
}

/// The sform decides if there is one. Otherwise as nibabel and FSL: negative sizes lose their sign, and 0 is 1 mm.
void check_voxel_sizes(nifti_fields& f, const std::string& name, std::vector<std::string>& warnings) {
  const bool has_sform = f.sform_code > 0;
  for (std::size_t i = 1; i <= 3; ++i) {
    double& size = f.pixdim[i];
    if (i > static_cast<std::size_t>(f.dim[0]) && !(size > 0)) size = 1;
    if (size > 0 && std::isfinite(size)) continue;
    const double found = size;
    size = std::abs(size);
    if (!(size > 0 && std::isfinite(size)) && has_sform)
      size = std::hypot(f.srow[0][i - 1], f.srow[1][i - 1], f.srow[2][i - 1]);
    if (size == 0 && !has_sform) size = 1;
    if (!std::isfinite(size))
      refuse_data("{}: pixdim[{}] is {}, expected a finite voxel size above 0, or an sform", name, i, found);
    if (!has_sform || size != std::abs(found))
      warnings.push_back(fmt::format("pixdim[{}] is {}; {:.6g} is used", i, found, size));
  }
  if (f.qform_code > 0 && std::isnan(f.pixdim[0])) {
    if (!has_sform) refuse_data("{}: pixdim[0] (qfac) is {}, expected 1 or -1, or an sform", name, f.pixdim[0]);
    f.qform_code = 0;  // unknown, and not used
    warnings.push_back("pixdim[0] (qfac) is nan; the qform is ignored");
  }
}

/// Without a scl_slope (0, or as nibabel and MRtrix read it, not finite) values are as stored; scl_inter is then
/// ignored.
void check_scaling(const nifti_fields& f, const std::string& name, nifti_header& h) {
  if (f.slope == 0) return;
  if (!std::isfinite(f.slope)) {
    h.warnings.push_back(fmt::format("scl_slope is {}; values are read as stored", f.slope));
    return;
  }
  if (!std::isfinite(f.intercept)) refuse_data("{}: scl_inter is {}, expected a finite number", name, f.intercept);
  h.slope = f.slope;
  h.intercept = f.intercept;
}

/// A fraction is cut off, as other programs do.
std::uint64_t check_offset(const nifti_fields& f, const std::string& name, std::vector<std::string>& warnings) {
  constexpr double most = 9007199254740992.0;  // 2^53: beyond it a double does not represent every integer
  if (!std::isfinite(f.vox_offset) || f.vox_offset < f.first_data_byte() || f.vox_offset > most) {
    refuse_data("{}: vox_offset is {}, expected a number of at least {}", name, f.vox_offset, f.first_data_byte());
  }
  if (f.vox_offset != std::floor(f.vox_offset))
    warnings.push_back(fmt::format("vox_offset is {}; {} is used", f.vox_offset, std::floor(f.vox_offset)));
  return static_cast<std::uint64_t>(f.vox_offset);
}

void check_length(const input_file& file, bool compressed, std::uint64_t expected, nifti_header& h) {
  if (compressed) {
    if (expected / largest_gzip_ratio > file.size()) {
      refuse_data(
          "{}: its length is {} compressed bytes, expected enough for {} bytes of header and data; the file is "
          "truncated or its dim is wrong",
          file.name(), file.size(), expected);
    }
    return;
  }
  if (file.size() < expected) {
    refuse_data(
        "{}: its length is {} bytes, expected {} bytes of header and data; the file is truncated or its dim is wrong",
        file.name(), file.size(), expected);
  }
  if (file.size() > expected)
    h.warnings.push_back(fmt::format("{} bytes follow the data; ignored", file.size() - expected));
}

/// Extensions are not used, but a chain that exceeds its space is worth a warning.
void check_extensions(const front& bytes, const nifti_fields& f, std::uint64_t data_offset, nifti_header& h) {
  std::uint64_t at = static_cast<std::uint64_t>(f.first_data_byte());
  const auto flag = bytes.read(at - 4, 4);
  if (flag.size() < 4 || flag[0] == std::byte{0}) return;
  while (at + 8 <= data_offset) {
    std::uint32_t stored = 0;
    const auto raw = bytes.read(at, 4);
    if (raw.size() < 4) return;
    std::memcpy(&stored, raw.data(), sizeof stored);
    const auto esize = static_cast<std::int32_t>(f.byte_swapped ? __builtin_bswap32(stored) : stored);
    if (esize < 8 || at + static_cast<std::uint64_t>(esize) > data_offset) {
      h.warnings.push_back(
          fmt::format("a header extension at byte {} has a size field of {} bytes, expected 8 to {}; ignored", at,
                      esize, data_offset - at));
      return;
    }
    at += static_cast<std::uint64_t>(esize);
  }
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void refuse_other_formats(const std::string& path) {
  const struct {
    const char *end, *whose, *tool;
  } formats[] = {{".mif", "MRtrix", "mrconvert"},
                 {".mif.gz", "MRtrix", "mrconvert"},
                 {".mih", "MRtrix", "mrconvert"},
                 {".mgz", "FreeSurfer", "mri_convert"},
                 {".mgh", "FreeSurfer", "mri_convert"}};
  for (const auto& f : formats) {
    if (!ends_with(path, f.end)) continue;
    refuse_data("{}: is an image in {}'s own format, expected NIfTI; convert it with `{} {} NAME.nii.gz`", path,
                f.whose, f.tool, path);
  }
}

void refuse_pairs(const std::string& path) {
  for (const char* end : {".img", ".img.gz", ".hdr", ".hdr.gz"}) {
    if (!ends_with(path, end)) continue;
    refuse_data(
        "{}: is one half of a .hdr/.img pair, expected a single .nii or .nii.gz file; convert it, e.g. with nibabel or "
        "mrconvert",
        path);
  }
}

void note_name(nifti_header& h) {
  const bool says_gzip = ends_with(h.path, ".gz");
  if (h.compressed && !says_gzip) h.warnings.push_back("is gzip-compressed although its name does not end in .gz");
  if (!h.compressed && says_gzip) h.warnings.push_back("is not compressed although its name ends in .gz");
}

}  // namespace

std::string find_image(const std::string& name) {
  std::error_code too_long;
  if (name.ends_with(".nii") || name.ends_with(".nii.gz")) return std::filesystem::exists(name, too_long) ? name : "";
  for (const char* ending : {".nii.gz", ".nii"})
    if (std::filesystem::exists(name + ending, too_long)) return name + ending;
  return "";
}

nifti_header read_nifti_header(const std::string& path, std::size_t dimensions) {
  const input_file file(path);
  refuse_pairs(path);
  refuse_other_formats(path);
  const front bytes(file);
  const std::string name = file.name();
  nifti_fields f = decode_nifti_fields(bytes.read(0, longest_header), name);
  nifti_header h;
  h.path = path;
  h.version = f.version;
  h.byte_swapped = f.byte_swapped;
  h.compressed = bytes.compressed();
  note_name(h);
  check_dimensions(f, dimensions, name, h.warnings);
  check_type(f, name, h.warnings);
  check_voxel_sizes(f, name, h.warnings);
  check_scaling(f, name, h);
  h.datatype = f.datatype;
  h.bytes_per_value = datatype_bytes(f.datatype);
  h.grid.size = {extent(f, 1), extent(f, 2), extent(f, 3)};
  h.series = extent(f, 5);
  h.volumes = extent(f, 4) * h.series;
  h.intent = f.intent;
  h.data_offset = check_offset(f, name, h.warnings);
  check_length(file, h.compressed, h.data_offset + check_data_bytes(f, name), h);
  check_extensions(bytes, f, h.data_offset, h);
  place_grid(f, name, h.grid, h.warnings);
  // Every reader keeps at least a number per voxel; those that read a series in stages do not keep all of it.
  require_memory(sizeof(float) * static_cast<double>(h.grid.voxel_count()),
                 fmt::format("{}: {} x {} x {} voxels", name, h.grid.size[0], h.grid.size[1], h.grid.size[2]));
  h.geometry = copied_geometry(f);
  return h;
}

struct nifti_reader::state {
  explicit state(nifti_header h) : header(std::move(h)), file(header.path) {
    if (header.compressed) stream.emplace(file);
    const bool is_scaled = header.slope != 1 || header.intercept != 0;
    convert = find_converter(header.datatype, header.byte_swapped, is_scaled);
    convert_to_double = find_converter<double>(header.datatype, header.byte_swapped, is_scaled);
  }

  /// Throws failure (internal_error) for voxels outside the image.
  std::uint64_t byte_offset(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count) const {
    const std::uint64_t voxels = header.grid.voxel_count();
    if (volume >= header.volumes || first_voxel > voxels || count > voxels - first_voxel) {
      throw failure(
          exit_status::internal_error,
          fmt::format("{}: requested voxels {} to {} of volume {}, but the image has {} voxels and {} volumes",
                      header.path, first_voxel, first_voxel + count, volume, voxels, header.volumes));
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
  nifti_converter_to<double> convert_to_double = nullptr;
  std::vector<std::byte> stored;

  /// A volume of a reordered header.
  template <class To>
  struct reordered_volume {
    std::vector<To> values;
    std::optional<std::uint64_t> number;
  };
  reordered_volume<float> reordered_floats;
  reordered_volume<double> reordered_doubles;

  template <class To>
  void read_values(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, nifti_converter_to<To> use,
                   reordered_volume<To>& kept, To* out) {
    if (header.order.is_as_stored()) return convert_stored(volume, first_voxel, count, use, out);
    (void)byte_offset(volume, first_voxel, count);  // checks the range
    if (kept.number != volume) reorder_volume(volume, use, kept);
    std::copy_n(kept.values.begin() + static_cast<std::ptrdiff_t>(first_voxel), count, out);
  }

  /// Reads values as they are stored.
  template <class To>
  void convert_stored(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, nifti_converter_to<To> use,
                      To* out) {
    const std::uint64_t offset = byte_offset(volume, first_voxel, count);
    constexpr std::uint64_t piece = 1 << 16;  // values that stay in the cache between reading and conversion
    for (std::uint64_t done = 0; done < count; done += piece) {
      const std::uint64_t n = std::min(piece, count - done);
      stored.resize(std::max<std::size_t>(stored.size(), n * header.bytes_per_value));
      read(offset + done * header.bytes_per_value, n * header.bytes_per_value, stored.data());
      use(stored.data(), n, header.slope, header.intercept, out + done);
    }
  }

  template <class To>
  void reorder_volume(std::uint64_t volume, nifti_converter_to<To> use, reordered_volume<To>& kept) {
    const auto& n = header.grid.size;
    const stored_places place(n, header.order);
    std::vector<To> values(header.grid.voxel_count());
    convert_stored(volume, 0, values.size(), use, values.data());
    kept.values.resize(values.size());
    To* out = kept.values.data();
    for (std::uint64_t z = 0; z < n[2]; ++z)
      for (std::uint64_t y = 0; y < n[1]; ++y) {
        std::uint64_t from = place.at(0, y, z);
        for (std::uint64_t x = 0; x < n[0]; ++x, from += place.step()) *out++ = values[from];
      }
    kept.number = volume;
  }
};

nifti_reader::nifti_reader(nifti_header header) : state_(std::make_unique<state>(std::move(header))) {}
nifti_reader::~nifti_reader() = default;
nifti_reader::nifti_reader(nifti_reader&&) noexcept = default;

const nifti_header& nifti_reader::header() const { return state_->header; }

void nifti_reader::read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, float* out) {
  state& s = *state_;
  s.read_values(volume, first_voxel, count, s.convert, s.reordered_floats, out);
}

void nifti_reader::read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, double* out) {
  state& s = *state_;
  s.read_values(volume, first_voxel, count, s.convert_to_double, s.reordered_doubles, out);
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
  const std::string& name = header.path;
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
