#pragma once

#include "src/show/draft.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd::report {

/// Adds a section with a figure for each map that the surfaces have: every surface from two or three sides. Nothing
/// without surfaces.
void add_surfaces(draft& d, const std::vector<shown_surface>& surfaces);

}  // namespace voxherd::report
