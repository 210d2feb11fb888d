#pragma once

#include <cstddef>

namespace voxherd {

/// Turns `count` stored values into floats: value * slope + intercept, computed in double; NaN stays NaN.
using nifti_converter = void (*)(const std::byte* stored, std::size_t count, double slope, double intercept,
                                 float* out);

/// The loop for a NIfTI datatype; null when this program does not read it. `scaled` false ignores slope and intercept.
nifti_converter find_converter(int datatype, bool byte_swapped, bool scaled);

/// Bytes of one value of a datatype that is read, else 0.
std::size_t bytes_of_datatype(int datatype);

/// "float32", "RGB24 colour", ...
const char* name_of_datatype(int datatype);

}  // namespace voxherd
