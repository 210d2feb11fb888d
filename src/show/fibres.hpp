#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/portable/voxel_walk.hpp"
#include "src/show/draft.hpp"

namespace voxherd::report {

/// Calls visit(place, part) for each voxel that a straight segment passes, in order: the voxel's place, also outside of
/// the image, and the part of the segment (0 to 1) in it. Index coordinates. Nothing for an end that is not finite.
template <class Visit>
void walk_segment(const std::array<double, 3>& from, const std::array<double, 3>& to, const Visit& visit) {
  constexpr double far = 1e5;  // voxels: only a damaged file has such places
  float a[3], b[3];
  int first[3], last[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(std::fabs(from[i]) < far && std::fabs(to[i]) < far)) return;
    a[i] = static_cast<float>(from[i]);
    b[i] = static_cast<float>(to[i]);
    first[i] = static_cast<int>(std::lround(a[i]));
    last[i] = static_cast<int>(std::lround(b[i]));
  }
  std::array<int, 3> here{first[0], first[1], first[2]};
  double entered = 0;
  walk_voxels(a, b, first, last, [&](const int(&voxel)[3]) {
    double left = entered;
    for (std::size_t i = 0; i < 3; ++i)
      if (voxel[i] != here[i]) left = ((here[i] + voxel[i]) / 2.0 - from[i]) / (to[i] - from[i]);
    left = std::clamp(left, entered, 1.0);
    visit(here, left - entered);
    here = {voxel[0], voxel[1], voxel[2]};
    entered = left;
    return true;
  });
  visit(here, 1 - entered);
}

struct fibre {
  std::vector<std::array<double, 3>> mm;  ///< along the axes of the view
  double value = 0;
};

/// The number of fibres in each voxel of the file, each counted once per voxel.
std::vector<float> count_fibres(const grid_view& view, const std::vector<fibre>& fibres);

/// Adds a section with the fibres of a result in three views: coloured by direction and, if there is an output of that
/// name with one number per fibre, by it; then their number in each voxel. At most 20,000 fibres, evenly spread over
/// the result.
void add_fibres(result_draft& d, const std::string& measure);

}  // namespace voxherd::report
