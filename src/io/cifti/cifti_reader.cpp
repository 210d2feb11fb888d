#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "core/failure.hpp"
#include "src/io/cifti/cifti.hpp"
#include "src/io/cifti/cifti_xml.hpp"
#include "src/io/gzip/gzip.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/io/nifti/nifti_layout.hpp"

namespace voxherd {

namespace {

/// The XML among the extensions of a NIfTI-2 header.
std::string read_extension(const input_file& file, const nifti_fields& fields) {
  const auto end = static_cast<std::uint64_t>(fields.vox_offset);
  std::uint64_t at = static_cast<std::uint64_t>(fields.first_data_byte());
  while (at + 8 <= end) {
    std::uint32_t size_code[2] = {};
    if (file.read_some(at, size_code, sizeof size_code) < sizeof size_code) break;
    if (fields.byte_swapped)
      for (std::uint32_t& n : size_code) n = __builtin_bswap32(n);
    const std::uint64_t bytes = size_code[0];
    if (bytes < 8 || at + bytes > end || at + bytes > file.size()) break;
    if (size_code[1] == nifti_cifti_extension) {
      std::string xml(bytes - 8, '\0');
      file.read(at + 8, xml.data(), xml.size());
      return xml;
    }
    at += bytes;
  }
  refuse_data(fmt::format("{}: has no XML of CIFTI in its header; is it an ordinary image?", file.name()));
}

void check_size(const cifti_axis& axis, std::int64_t found, const char* what, const std::string& name) {
  // Axes of other kinds, such as parcels, are not read.
  if (const auto* maps = std::get_if<named_maps>(&axis); maps != nullptr && maps->names.empty()) return;
  if (found >= 0 && static_cast<std::uint64_t>(found) == axis_size(axis)) return;
  refuse_data(fmt::format("{}: has {} {}, but its XML describes {}", name, found, what, axis_size(axis)));
}

}  // namespace

cifti_file read_cifti(const std::string& path) {
  const input_file file(path);
  if (is_gzip(file))
    refuse_data(
        fmt::format("{}: is compressed, expected a CIFTI file as it is; decompress it with gunzip", file.name()));
  std::vector<std::byte> bytes(sizeof(nifti2_header));
  bytes.resize(file.read_some(0, bytes.data(), bytes.size()));
  const nifti_fields fields = decode_nifti_fields(bytes, file.name());
  if (fields.version != 2 || fields.dim[0] < 6 || !(fields.vox_offset >= fields.first_data_byte()) ||
      !(fields.vox_offset <= static_cast<double>(file.size())))
    refuse_data(fmt::format(
        "{}: is not CIFTI: expected a NIfTI-2 header of 6 dimensions, with its data inside the file", file.name()));
  cifti_file cifti;
  cifti.path = path;
  parse_cifti_xml(read_extension(file, fields), file.name(), cifti.rows, cifti.columns);
  check_size(cifti.columns, fields.dim[5], "columns", file.name());
  check_size(cifti.rows, fields.dim[6], "rows", file.name());
  cifti.datatype = fields.datatype;
  cifti.byte_swapped = fields.byte_swapped;
  if (std::isfinite(fields.slope) && fields.slope != 0) {
    cifti.slope = fields.slope;
    cifti.intercept = std::isfinite(fields.intercept) ? fields.intercept : 0;
  }
  cifti.data_offset = static_cast<std::uint64_t>(fields.vox_offset);
  if (datatype_bytes(fields.datatype) == 0)
    refuse_data(fmt::format("{}: datatype is {}, expected numbers", file.name(), fields.datatype));
  return cifti;
}

std::vector<float> read_cifti_column(const cifti_file& file, std::uint64_t column) {
  const input_file data(file.path);
  const std::uint64_t rows = axis_size(file.rows), columns = axis_size(file.columns),
                      size = datatype_bytes(file.datatype);
  const bool is_scaled = file.slope != 1 || file.intercept != 0;
  const nifti_converter convert = find_converter(file.datatype, file.byte_swapped, is_scaled);
  if (data.size() < file.data_offset ||
      (data.size() - file.data_offset) / size / std::max<std::uint64_t>(1, columns) < rows)
    refuse_data(fmt::format("{}: has {} bytes, expected {} x {} values after byte {}; the file is truncated",
                            data.name(), data.size(), rows, columns, file.data_offset));
  std::vector<float> values(rows), row(columns);
  std::vector<std::byte> stored(columns * size);
  for (std::uint64_t r = 0; r < rows; ++r) {
    data.read(file.data_offset + r * stored.size(), stored.data(), stored.size());
    convert(stored.data(), columns, file.slope, file.intercept, row.data());
    values[r] = row[column];
  }
  return values;
}

}  // namespace voxherd
