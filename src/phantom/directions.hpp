#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "kernels/portable/gradient_table.hpp"

namespace voxherd {

using direction3 = std::array<double, 3>;

/// `count` directions spread evenly over the sphere, where opposite directions are equivalent: a spiral over the half
/// sphere, relaxed by electrostatic repulsion (Jones, Horsfield & Simmons, MRM 42:515, 1999). Deterministic.
std::vector<direction3> spread_directions(std::size_t count);

/// One b-value and its directions.
struct gradient_shell {
  double b_s_per_mm2 = 0;
  std::size_t directions = 0;
};

/// Interleaves b=0 volumes and shells as scanners do: b=0 volumes at even distances, shells alternating.
gradient_table make_gradients(std::size_t b0_count, const std::vector<gradient_shell>& shells);

}  // namespace voxherd
