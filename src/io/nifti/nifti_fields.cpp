#include "src/io/nifti/nifti_fields.hpp"

#include <fmt/core.h>
#include <nifti2_io.h>

#include <algorithm>
#include <cstring>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr std::size_t nifti1_bytes = 348, nifti2_bytes = 540;
static_assert(sizeof(nifti_1_header) == nifti1_bytes && sizeof(nifti_2_header) == nifti2_bytes);

constexpr const char* how_to_convert = "convert it to a single .nii or .nii.gz file, e.g. with nibabel or mrconvert";

[[noreturn]] void refuse(const std::string& message) { throw failure(exit_status::bad_data, message); }

template <class Header>
void copy_common(const Header& h, nifti_fields& f) {
  std::copy(std::begin(h.dim), std::end(h.dim), f.dim.begin());
  std::copy(std::begin(h.pixdim), std::end(h.pixdim), f.pixdim.begin());
  f.datatype = h.datatype;
  f.bitpix = h.bitpix;
  f.vox_offset = static_cast<double>(h.vox_offset);
  f.slope = h.scl_slope;
  f.intercept = h.scl_inter;
  f.qform_code = h.qform_code;
  f.sform_code = h.sform_code;
  f.quatern = {h.quatern_b, h.quatern_c, h.quatern_d};
  f.qoffset = {h.qoffset_x, h.qoffset_y, h.qoffset_z};
  std::copy(std::begin(h.srow_x), std::end(h.srow_x), f.srow[0].begin());
  std::copy(std::begin(h.srow_y), std::end(h.srow_y), f.srow[1].begin());
  std::copy(std::begin(h.srow_z), std::end(h.srow_z), f.srow[2].begin());
  f.xyzt_units = static_cast<int>(h.xyzt_units);
}

void check_magic_1(const char (&magic)[4], const std::string& name) {
  if (std::memcmp(magic, "n+1", 4) == 0) return;
  if (std::memcmp(magic, "ni1", 4) == 0) {
    refuse(fmt::format("{}: magic is \"ni1\" (the header of a .hdr/.img pair), expected \"n+1\"; {}", name,
                       how_to_convert));
  }
  const bool blank = std::all_of(std::begin(magic), std::end(magic), [](char c) { return c == 0; });
  refuse(fmt::format("{}: magic is {}, expected \"n+1\"; {}", name, blank ? "empty (an ANALYZE header)" : "unknown",
                     how_to_convert));
}

void check_magic_2(const char (&magic)[8], const std::string& name) {
  if (std::memcmp(magic, "n+2\0\r\n\032\n", 8) == 0) return;
  if (std::memcmp(magic, "ni2", 4) == 0) {
    refuse(fmt::format("{}: magic is \"ni2\" (the header of a .hdr/.img pair), expected \"n+2\"; {}", name,
                       how_to_convert));
  }
  const char* what =
      std::memcmp(magic, "n+2", 4) == 0 ? "damaged after \"n+2\" (probably by a transfer in text mode)" : "unknown";
  refuse(fmt::format("{}: magic is {}, expected \"n+2\\0\\r\\n\\032\\n\"; copy the file again", name, what));
}

}  // namespace

nifti_fields decode_nifti_fields(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) refuse(fmt::format("{}: is empty, expected a NIfTI header of 348 or 540 bytes", name));
  std::uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  const std::uint32_t other_size = __builtin_bswap32(size);

  nifti_fields f;
  f.byte_swapped = other_size == nifti1_bytes || other_size == nifti2_bytes;
  const std::uint32_t header_bytes = f.byte_swapped ? other_size : size;
  if (header_bytes != nifti1_bytes && header_bytes != nifti2_bytes) {
    refuse(fmt::format("{}: sizeof_hdr is {}, expected 348 (NIfTI-1) or 540 (NIfTI-2): not a NIfTI file", name,
                       static_cast<std::int32_t>(size)));
  }
  if (bytes.size() < header_bytes) {
    refuse(fmt::format("{}: has only {} bytes, expected a header of {} bytes; the file is truncated", name,
                       bytes.size(), header_bytes));
  }
  if (header_bytes == nifti1_bytes) {
    nifti_1_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    if (f.byte_swapped) nifti_swap_as_nifti1(&h);
    check_magic_1(h.magic, name);
    copy_common(h, f);
  } else {
    nifti_2_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    if (f.byte_swapped) nifti_swap_as_nifti2(&h);
    check_magic_2(h.magic, name);
    f.version = 2;
    copy_common(h, f);
  }
  return f;
}

}  // namespace voxherd
