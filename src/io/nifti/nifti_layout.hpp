#pragma once

#include <cstdint>

namespace voxherd {

// Headers of NIfTI-1 and -2 as they are stored in a file, and codes of their fields (nifti1.h and nifti2.h of the NIfTI
// Data Format Working Group). Fields that are not used have no names.

#pragma pack(push, 4)
struct nifti1_header {
  std::int32_t sizeof_hdr;
  char unused_analyze[36];
  std::int16_t dim[8];
  float intent_p[3];
  std::int16_t intent_code, datatype, bitpix, slice_start;
  float pixdim[8], vox_offset, scl_slope, scl_inter;
  std::int16_t slice_end;
  char slice_code, xyzt_units;
  float cal_max, cal_min, slice_duration, toffset;
  std::int32_t unused_range[2];
  char descrip[80], aux_file[24];
  std::int16_t qform_code, sform_code;
  float quatern[3], qoffset[3], srow[3][4];  ///< b c d; x y z; a row for each of x y z
  char intent_name[16], magic[4];
};

struct nifti2_header {
  std::int32_t sizeof_hdr;
  char magic[8];
  std::int16_t datatype, bitpix;
  std::int64_t dim[8];
  double intent_p[3], pixdim[8];
  std::int64_t vox_offset;
  double scl_slope, scl_inter, cal_max, cal_min, slice_duration, toffset;
  std::int64_t slice_start, slice_end;
  char descrip[80], aux_file[24];
  std::int32_t qform_code, sform_code;
  double quatern[3], qoffset[3], srow[3][4];
  std::int32_t slice_code, xyzt_units, intent_code;
  char intent_name[16], dim_info, unused[15];
};
#pragma pack(pop)

static_assert(sizeof(nifti1_header) == 348 && sizeof(nifti2_header) == 540);

enum nifti_type {
  nifti_uint8 = 2,
  nifti_int16 = 4,
  nifti_int32 = 8,
  nifti_float32 = 16,
  nifti_complex64 = 32,
  nifti_float64 = 64,
  nifti_rgb24 = 128,
  nifti_int8 = 256,
  nifti_uint16 = 512,
  nifti_uint32 = 768,
  nifti_int64 = 1024,
  nifti_uint64 = 1280,
  nifti_float128 = 1536,
  nifti_complex128 = 1792,
  nifti_complex256 = 2048,
  nifti_rgba32 = 2304,
};

/// Parts of xyzt_units: its three lowest bits are the unit of space, the next three that of time.
enum nifti_unit { nifti_metre = 1, nifti_mm = 2, nifti_micron = 3, nifti_second = 8 };
inline constexpr int nifti_space_units = 7;

/// qform_code and sform_code.
enum nifti_xform { nifti_xform_unknown = 0, nifti_xform_scanner = 1 };

/// The code of an extension that holds the XML of CIFTI.
inline constexpr int nifti_cifti_extension = 32;

}  // namespace voxherd
