#pragma once

#include <array>
#include <string>

#include "core/analysis.hpp"

namespace voxherd {

/// TRK's coordinate system: mm along the voxel axes, 0 at the corner of the first voxel (its centre is at half a
/// voxel). All numbers are rounded to float32 as in the header, so that a reader recovers the world coordinates.
struct trk_geometry {
  std::array<float, 3> voxel_size_mm{};
  std::array<float, 16> voxel_to_world{};  ///< row-major
  std::array<double, 12> world_to_trk{};   ///< row-major 3x4
  std::string voxel_order;                 ///< direction of each voxel axis: nearest of R or L, A or P, S or I
  std::array<float, 6> orientation{};      ///< first two voxel axes in DICOM's LPS system
};

/// Throws failure (bad_data) if the matrix cannot be inverted.
trk_geometry make_trk_geometry(const image_grid& grid);

}  // namespace voxherd
