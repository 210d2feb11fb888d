#pragma once

#include <cstdint>
#include <string>

#include "kernels/portable/gradients.hpp"

namespace voxherd {

/// Reads FSL's bvals and bvecs: 3xN or Nx3, any white space. Non-zero directions are normalised.
/// Throws failure naming file, line, value found, value expected (counts against `volumes`, finite, b >= 0, b with a
/// zero vector, no b=0).
gradient_table read_gradients(const std::string& bvals, const std::string& bvecs, std::uint64_t volumes);

}  // namespace voxherd
