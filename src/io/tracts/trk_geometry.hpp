#pragma once

#include <array>
#include <string>

#include "core/analysis.hpp"

namespace voxherd {

/// How TRK's coordinates lie in the world: mm along the voxel axes, 0 at the corner of the first voxel, so that its
/// centre is at half a voxel. All numbers are those that the header keeps (float32): a reader gets the world back.
struct trk_geometry {
  std::array<float, 3> voxel_size_mm{};
  std::array<float, 16> voxel_to_world{};  ///< row-major
  std::array<double, 12> world_to_trk{};   ///< row-major 3x4
  std::string voxel_order;                 ///< where the voxel axes point, nearest of R or L, A or P, S or I
  std::array<float, 6> orientation{};      ///< first two voxel axes in DICOM's LPS
};

/// Throws failure (bad_data) for an affine that cannot be inverted.
trk_geometry trk_geometry_of(const image_grid& grid);

}  // namespace voxherd
