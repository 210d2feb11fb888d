#pragma once

#include <utility>
#include <vector>

#include "tests/perfusion/reference/perfusion_case.hpp"

namespace voxherd::reference {

/// All signal types and T1 types, by name.
std::vector<std::pair<const char*, perfusion::conversion>> every_conversion();

/// Concentrations converted to signals of that type by the textbook equations, with the extra values after the frames
/// of a row. S0 and T1 differ between voxels. Voxels that cannot be fitted are unchanged.
perfusion_case signals_of(const perfusion_case& c, const perfusion::conversion& convert);

/// T1 of a voxel of signals_of() before the agent arrives, s.
double true_t1_s(const perfusion::conversion& convert, std::size_t voxel);

}  // namespace voxherd::reference
