#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace voxherd {

/// The fields of a NIfTI-1 or -2 header that matter here, as stored, in this machine's byte order.
struct nifti_fields {
  int version = 1;
  bool byte_swapped = false;
  std::array<std::int64_t, 8> dim{};
  int datatype = 0;
  int bitpix = 0;
  std::array<double, 8> pixdim{};
  double vox_offset = 0;
  double slope = 0, intercept = 0;
  int qform_code = 0, sform_code = 0;
  std::array<double, 3> quatern{}, qoffset{};
  std::array<std::array<double, 4>, 3> srow{};
  int xyzt_units = 0;

  int header_bytes() const { return version == 1 ? 348 : 540; }
  /// Header, then the four bytes that say whether extensions follow.
  int first_data_byte() const { return header_bytes() + 4; }
};

/// Recognises version and byte order. `bytes`: the first 540 bytes of the file, or all that it has.
/// Throws failure (bad_data) when it is no single-file NIfTI; `name` is the path to print.
nifti_fields decode_nifti_fields(std::span<const std::byte> bytes, const std::string& name);

}  // namespace voxherd
