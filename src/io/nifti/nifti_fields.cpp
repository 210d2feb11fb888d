#include "src/io/nifti/nifti_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/failure.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_layout.hpp"
#include "src/io/nifti/quaternion.hpp"

namespace voxherd {

namespace {

constexpr std::size_t nifti1_bytes = sizeof(nifti1_header), nifti2_bytes = sizeof(nifti2_header);

constexpr const char* how_to_convert = "convert it to a single .nii or .nii.gz file, e.g. with nibabel or mrconvert";

template <class Number>
Number reversed(Number stored) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof stored>>(stored);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

template <class Header>
void copy_common(const Header& h, nifti_fields& f) {
  const auto native = [&](auto stored) { return f.byte_swapped ? reversed(stored) : stored; };
  for (std::size_t i = 0; i < 8; ++i) {
    f.dim[i] = native(h.dim[i]);
    f.pixdim[i] = native(h.pixdim[i]);
  }
  f.datatype = native(h.datatype);
  f.bitpix = native(h.bitpix);
  f.vox_offset = static_cast<double>(native(h.vox_offset));
  f.slope = native(h.scl_slope);
  f.intercept = native(h.scl_inter);
  f.qform_code = native(h.qform_code);
  f.sform_code = native(h.sform_code);
  for (std::size_t i = 0; i < 3; ++i) {
    f.quatern[i] = native(h.quatern[i]);
    f.qoffset[i] = native(h.qoffset[i]);
    f.intent.parameters[i] = native(h.intent_p[i]);
    for (std::size_t j = 0; j < 4; ++j) f.srow[i][j] = native(h.srow[i][j]);
  }
  f.xyzt_units = static_cast<int>(native(h.xyzt_units));
  f.intent.code = native(h.intent_code);
  f.intent.name.assign(h.intent_name, strnlen(h.intent_name, sizeof h.intent_name));
}

void check_magic_1(const char (&magic)[4], const std::string& name) {
  if (std::memcmp(magic, "n+1", 4) == 0) return;
  if (std::memcmp(magic, "ni1", 4) == 0) {
    refuse_data("{}: magic is \"ni1\" (the header of a .hdr/.img pair), expected \"n+1\"; {}", name, how_to_convert);
  }
  const bool blank = std::all_of(std::begin(magic), std::end(magic), [](char c) { return c == 0; });
  refuse_data("{}: magic is {}, expected \"n+1\"; {}", name, blank ? "empty (an ANALYZE header)" : "unknown",
              how_to_convert);
}

void check_magic_2(const char (&magic)[8], const std::string& name) {
  if (std::memcmp(magic, "n+2\0\r\n\032\n", 8) == 0) return;
  if (std::memcmp(magic, "ni2", 4) == 0) {
    refuse_data("{}: magic is \"ni2\" (the header of a .hdr/.img pair), expected \"n+2\"; {}", name, how_to_convert);
  }
  const char* what =
      std::memcmp(magic, "n+2", 4) == 0 ? "damaged after \"n+2\" (probably by a transfer in text mode)" : "unknown";
  refuse_data("{}: magic is {}, expected \"n+2\\0\\r\\n\\032\\n\"; copy the file again", name, what);
}

}  // namespace

nifti_fields decode_nifti_fields(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) refuse_data("{}: is empty, expected a NIfTI header of 348 or 540 bytes", name);
  std::uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  const std::uint32_t other_size = __builtin_bswap32(size);

  nifti_fields f;
  f.byte_swapped = other_size == nifti1_bytes || other_size == nifti2_bytes;
  const std::uint32_t header_bytes = f.byte_swapped ? other_size : size;
  if (header_bytes != nifti1_bytes && header_bytes != nifti2_bytes) {
    refuse_data("{}: sizeof_hdr is {}, expected 348 (NIfTI-1) or 540 (NIfTI-2): not a NIfTI file", name,
                static_cast<std::int32_t>(size));
  }
  if (bytes.size() < header_bytes) {
    refuse_data("{}: has only {} bytes, expected a header of {} bytes; the file is truncated", name, bytes.size(),
                header_bytes);
  }
  if (header_bytes == nifti1_bytes) {
    nifti1_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    check_magic_1(h.magic, name);
    copy_common(h, f);
  } else {
    nifti2_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    check_magic_2(h.magic, name);
    f.version = 2;
    copy_common(h, f);
  }
  return f;
}

namespace {

using matrix = voxel_matrix;
using vec3 = std::array<double, 3>;

vec3 column(const matrix& m, std::size_t c) { return {m[c], m[4 + c], m[8 + c]}; }
double dot(const vec3& a, const vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const vec3& a) { return std::sqrt(dot(a, a)); }

double determinant(const matrix& m) {
  const vec3 a = column(m, 0), b = column(m, 1), c = column(m, 2);
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1]);
}

bool all_finite(const matrix& m) {
  return std::all_of(m.begin(), m.end(), [](double v) { return std::isfinite(v); });
}

/// The header's xyzt_units distinguishes metres and microns; anything else is taken as mm.
double mm_per_unit(int xyzt_units) {
  switch (xyzt_units & nifti_space_units) {
    case nifti_metre:
      return 1e3;
    case nifti_micron:
      return 1e-3;
    default:
      return 1;
  }
}

matrix sform_matrix(const nifti_fields& f) {
  matrix m{};
  for (std::size_t r = 0; r < 3; ++r)
    std::copy(f.srow[r].begin(), f.srow[r].end(), m.begin() + static_cast<long>(4 * r));
  m[15] = 1;
  return m;
}

/// Empty if the quaternion is not a rotation.
std::optional<matrix> qform_matrix(const nifti_fields& f) {
  const auto [b, c, d] = f.quatern;
  const double norm_squared = b * b + c * c + d * d;
  // Headers store floats, so a rotation by 180 degrees may be slightly above 1.
  constexpr double slack = 1e-5;
  if (!(norm_squared <= 1 + slack)) return std::nullopt;
  const matrix m =
      to_matrix({f.quatern, f.qoffset, {f.pixdim[1], f.pixdim[2], f.pixdim[3]}, f.pixdim[0] < 0 ? -1.0 : 1.0});
  return all_finite(m) ? std::optional(m) : std::nullopt;
}

matrix voxel_size_matrix(const nifti_fields& f) {
  return {f.pixdim[1], 0, 0, 0, 0, f.pixdim[2], 0, 0, 0, 0, f.pixdim[3], 0, 0, 0, 0, 1};
}

void check_matrix(const matrix& m, const char* field, const std::string& name, std::vector<std::string>& warnings) {
  if (!all_finite(m)) refuse_data("{}: {} contains a value that is not finite, expected finite numbers", name, field);
  const vec3 a = column(m, 0), b = column(m, 1), c = column(m, 2);
  const double volume = length(a) * length(b) * length(c);
  constexpr double smallest_relative_volume = 1e-6;
  if (!(std::abs(determinant(m)) > smallest_relative_volume * volume)) {
    refuse_data("{}: {} is singular (determinant {:.3g}), expected three independent axes", name, field,
                determinant(m));
  }
  constexpr double largest_cosine = 1e-3;
  const double shear =
      std::max({std::abs(dot(a, b)) / (length(a) * length(b)), std::abs(dot(a, c)) / (length(a) * length(c)),
                std::abs(dot(b, c)) / (length(b) * length(c))});
  if (shear > largest_cosine)
    warnings.push_back(fmt::format("{} is sheared (cosine between axes up to {:.3g})", field, shear));
}

/// From a nanometre to a kilometre. Beyond that, a field was damaged or its unit is wrong.
void check_lengths(const image_grid& grid, const std::string& name) {
  constexpr double min_mm = 1e-6, max_mm = 1e6, max_offset_mm = 1e9;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double size = grid.voxel_size_mm[axis], offset = grid.voxel_to_world[4 * axis + 3];
    if (!(size >= min_mm && size <= max_mm))
      refuse_data(
          "{}: the voxel size along axis {} is {:.6g} mm, expected {} to {} mm; check pixdim, sform, qform and "
          "xyzt_units",
          name, axis + 1, size, min_mm, max_mm);
    if (!(std::abs(offset) <= max_offset_mm))
      refuse_data("{}: the offset of {} is {:.6g} mm, expected at most {} mm; check sform and qform", name, "xyz"[axis],
                  offset, max_offset_mm);
  }
}

double finite_or_zero(double v) { return std::isfinite(v) ? v : 0; }

}  // namespace

void place_grid(const nifti_fields& f, const std::string& name, image_grid& grid, std::vector<std::string>& warnings) {
  const std::optional<matrix> qform = f.qform_code > 0 ? qform_matrix(f) : std::nullopt;
  const double smallest_voxel = std::min({f.pixdim[1], f.pixdim[2], f.pixdim[3]});
  matrix m;
  if (f.sform_code > 0) {
    m = sform_matrix(f);
    check_matrix(m, "sform (srow_x, srow_y, srow_z)", name, warnings);
    if (f.qform_code > 0 && !qform) {
      warnings.push_back("the qform's quaternion is not a rotation; using the sform");
    } else if (qform && largest_displacement_mm(grid.size, m, *qform) > 0.1 * smallest_voxel) {
      warnings.push_back(fmt::format("qform and sform place the image up to {:.3g} units apart; using the sform",
                                     largest_displacement_mm(grid.size, m, *qform)));
    }
  } else if (f.qform_code > 0) {
    if (!qform) {
      refuse_data(
          "{}: quatern_b, quatern_c, quatern_d are {}, {}, {}; expected a rotation (finite, squares summing to at most "
          "1) and a finite offset",
          name, f.quatern[0], f.quatern[1], f.quatern[2]);
    }
    m = *qform;
    check_matrix(m, "qform", name, warnings);
  } else {
    m = voxel_size_matrix(f);
    warnings.push_back("qform_code and sform_code are 0: the orientation is unknown; using only the voxel sizes");
  }

  const double unit = mm_per_unit(f.xyzt_units);
  if (unit != 1)
    warnings.push_back(fmt::format("xyzt_units is {}: lengths are multiplied by {} to get mm", f.xyzt_units, unit));
  for (std::size_t i = 0; i < 12; ++i) m[i] *= unit;
  grid.voxel_to_world = m;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double stated = f.pixdim[axis + 1] * unit, actual = length(column(m, axis));
    const bool agree = std::abs(stated - actual) <= 1e-3 * actual;
    grid.voxel_size_mm[axis] = agree ? stated : actual;
    if (!agree) {
      warnings.push_back(fmt::format("pixdim[{}] is {:.6g} mm, but the matrix in use gives {:.6g} mm; using the matrix",
                                     axis + 1, stated, actual));
    }
  }
  check_lengths(grid, name);
}

nlohmann::json copied_geometry(const nifti_fields& f) {
  nlohmann::json g;
  g["qform_code"] = f.qform_code;
  g["sform_code"] = f.sform_code;
  for (std::size_t i = 0; i < 3; ++i) {
    g["quatern"].push_back(finite_or_zero(f.quatern[i]));
    g["qoffset"].push_back(finite_or_zero(f.qoffset[i]));
    for (const double v : f.srow[i]) g["srow"][i].push_back(finite_or_zero(v));
  }
  for (std::size_t i = 0; i < 4; ++i) g["pixdim"].push_back(finite_or_zero(f.pixdim[i]));
  g["xyzt_units"] = f.xyzt_units;
  return g;
}

}  // namespace voxherd
