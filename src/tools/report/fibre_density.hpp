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

/// The number of fibres in each voxel of the file, each counted once per voxel.
std::vector<float> count_fibres(const grid_view& view, const std::vector<fibre>& fibres);

/// Adds slices and three views of the number of fibres in each voxel. `what`: "10 of 20 fibres".
void add_fibre_density(draft& d, const std::vector<fibre>& fibres, const std::string& what);

}  // namespace voxherd::report
