#pragma once

#include <cassert>
#include <cstddef>

#include "kernels/portable/function.hpp"

/// Contracts of accessors in kernels are assert()s: on CPU and GPU, in builds without NDEBUG (preset debug, and every
/// build with sanitizers). Other builds contain nothing of them.
namespace voxherd {

/// The size of an array whose size nobody has stated.
inline constexpr std::size_t unlimited = ~std::size_t{0};

}  // namespace voxherd
