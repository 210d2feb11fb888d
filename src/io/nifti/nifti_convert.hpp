#pragma once

#include <cstddef>

namespace voxherd {

/// Converts `count` stored values to float: value * slope + intercept, computed in double. NaN stays NaN.
using nifti_converter = void (*)(const std::byte* stored, std::size_t count, double slope, double intercept,
                                 float* out);

inline constexpr int float32_datatype = 16;  ///< NIFTI_TYPE_FLOAT32

/// Returns the conversion for a NIfTI datatype, or null if the datatype is not supported. If not `scaled`, slope and
/// intercept are ignored.
nifti_converter find_converter(int datatype, bool byte_swapped, bool scaled);

/// Bytes per value, or 0 if the datatype is not supported.
std::size_t datatype_bytes(int datatype);

/// "float32", "RGB24 colour", ...
const char* datatype_name(int datatype);

}  // namespace voxherd
