#include "src/scan/stored_rows.hpp"

#include <nifti1.h>

#include <algorithm>

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
    s.convert = widened ? find_converter(NIFTI_TYPE_FLOAT32, false, false) : convert;
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

}  // namespace voxherd
