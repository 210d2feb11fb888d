#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/portable/lane_math.hpp"

namespace voxherd::track {

/// The voxels that are the columns of a matrix, in an image of their own.
struct column_grid {
  std::int32_t size[3] = {};
  float to_voxel[3][4] = {};             ///< from voxels of the samples' image
  const std::int32_t* column = nullptr;  ///< (nz, ny, nx): number of the voxel's column; -1: none
  std::uint32_t columns = 0;
  bool square = false;  ///< column i is seed i; it is not counted in its own row

  /// The column of a point in voxels of the samples' image; -1: none.
  VOXHERD_FUNCTION std::int32_t find(const float (&p)[3]) const {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const float* m = to_voxel[d];
      const float x = lane::fma(m[0], p[0], lane::fma(m[1], p[1], lane::fma(m[2], p[2], m[3])));
      const auto voxel = static_cast<std::int32_t>(lane::floor(x + 0.5f));
      if (voxel < 0 || voxel >= size[d]) return -1;
      at = at * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(voxel);
    }
    return column[at];
  }
};

/// Rows of a sparse matrix (compressed sparse rows): row i has entries begin[i] to begin[i + 1] - 1, by column.
struct sparse_rows {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> column, count;
  std::vector<std::uint64_t> steps;  ///< sum of the lengths from the seed
};

}  // namespace voxherd::track
