#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// Adds the fullest slice of the mosaic, enlarged, with a stick for each direction, coloured by it, over a map
/// that is grey up to `brightest`. `fibres`: outputs of directions and of their volume fractions; sticks of less than
/// `min_fraction` are left out.
void add_sticks(draft& d, const std::string& background, double brightest,
                const std::vector<std::pair<std::string, std::string>>& fibres, double min_fraction);

}  // namespace voxherd::report
