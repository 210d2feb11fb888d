#pragma once

#include <cstdint>
#include <string>

#include "kernels/portable/gradients.hpp"

namespace voxherd {

/// Up to this b (s/mm2) a volume counts as b=0 where one is asked for; the fits use the value given.
constexpr double largest_b0_s_per_mm2 = 50;

/// Reads FSL's bvals (1xN or Nx1) and bvecs (3xN or Nx3; 3x3 is taken as three rows), any white space or commas.
/// Non-zero directions are normalised. Throws failure naming file, line, value found, value expected (counts against
/// `volumes`, finite, b >= 0, b with a zero vector, no b=0, units that are not s/mm2); odd but usable: spdlog::warn.
gradient_table read_gradients(const std::string& bvals, const std::string& bvecs, std::uint64_t volumes);

}  // namespace voxherd
