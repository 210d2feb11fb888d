#pragma once

#include <cstdint>

#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// Warns about tensors that the preparation had to change, and says how. `option`: the one that sets the smallest
/// eigenvalue.
void warn_repaired(std::uint64_t repaired, const tensor_field::tensor_image& image, double min_eigenvalue,
                   const char* option);

}  // namespace voxherd
