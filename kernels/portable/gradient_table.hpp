#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

namespace voxherd {

/// Diffusion weighting of each volume. Directions are unit vectors (or zero) along the image axes in FSL's bvec frame.
struct gradient_table {
  std::vector<double> x, y, z;
  std::vector<double> b_s_per_mm2;
  std::size_t size() const { return b_s_per_mm2.size(); }

  static constexpr auto members() {
    using T = gradient_table;
    return std::tuple(&T::x, &T::y, &T::z, &T::b_s_per_mm2);
  }
};

}  // namespace voxherd
