#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

struct fibre {
  std::vector<std::array<double, 3>> mm;  ///< along the axes of the view
  double value = 0;
};

/// Adds slices and three views of the number of fibres in each voxel. `what`: "10 of 20 fibres".
void add_fibre_density(draft& d, const std::vector<fibre>& fibres, const std::string& what);

}  // namespace voxherd::report
