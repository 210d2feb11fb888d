#pragma once

#include <utility>
#include <vector>

#include "tests/perfusion/reference/perfusion_case.hpp"

namespace voxherd::reference {

/// Every kind of signal and of T1, by name.
std::vector<std::pair<const char*, perfusion::conversion>> every_conversion();

/// Concentrations as signals of that kind, by the textbook's equations, with what a row has after its frames. S0 and T1
/// differ from voxel to voxel. Voxels that cannot be fitted stay as they are.
perfusion_case signals_of(const perfusion_case& c, const perfusion::conversion& convert);

/// T1 before the agent of a voxel of signals_of(), s.
double true_t1_s(const perfusion::conversion& convert, std::size_t voxel);

}  // namespace voxherd::reference
