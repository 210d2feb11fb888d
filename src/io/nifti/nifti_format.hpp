#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/io/nifti/nifti_intent.hpp"

namespace voxherd {

/// The header fields of NIfTI-1 or -2 that are used, as stored, in native byte order.
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
  nifti_intent intent;

  int header_bytes() const { return version == 1 ? 348 : 540; }
  /// Offset of the first byte that may contain data: the header and the four bytes of the extension flag.
  int first_data_byte() const { return header_bytes() + 4; }
};

/// Detects version and byte order. `bytes`: the first 540 bytes of the file, or the complete file if it is shorter;
/// `name` is the path to print. Throws failure (bad_data) if it is not a single-file NIfTI.
nifti_fields decode_nifti_fields(std::span<const std::byte> bytes, const std::string& name);

/// Sets voxel_to_world and voxel_size_mm, in mm, from sform, else qform, else voxel sizes (NIfTI methods 3, 2, 1).
/// `grid.size` must be set. Appends tolerable irregularities to `warnings`. Throws failure (bad_data) if the matrix is
/// singular or not finite.
void place_grid(const nifti_fields& fields, const std::string& name, image_grid& grid,
                std::vector<std::string>& warnings);

/// Returns nifti_header::geometry.
nlohmann::json copied_geometry(const nifti_fields& fields);

/// Converts `count` stored values to float or double: value * slope + intercept, computed in double. NaN stays NaN.
template <class To>
using nifti_converter_to = void (*)(const std::byte* stored, std::size_t count, double slope, double intercept,
                                    To* out);
using nifti_converter = nifti_converter_to<float>;

inline constexpr int float32_datatype = 16;  ///< nifti_float32

/// Returns the conversion for a NIfTI datatype, or null if the datatype is not supported. If not `scaled`, slope and
/// intercept are ignored.
template <class To = float>
nifti_converter_to<To> find_converter(int datatype, bool byte_swapped, bool scaled);

/// Bytes per value, or 0 if the datatype is not supported.
std::size_t datatype_bytes(int datatype);

/// "float32", "RGB24 colour", ...
const char* datatype_name(int datatype);

}  // namespace voxherd
