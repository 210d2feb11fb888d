#pragma once

#include <tuple>

#include "kernels/track/warp.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// An affine map, between the voxels of two images or between millimetres.
struct voxel_map {
  matrix3 axes{1, 0, 0, 0, 1, 0, 0, 0, 1};
  vector3 origin{};

  static constexpr auto members() {
    using T = voxel_map;
    return std::tuple(&T::axes, &T::origin);
  }

  vector3 operator()(const vector3& voxel) const;
  voxel_map inverse() const;
  bool is_identity() const;
  track::point_map rounded() const;
};

/// The first map, then the second.
voxel_map product(const voxel_map& first, const voxel_map& second);

/// From voxels to world mm.
voxel_map to_world(const image_grid& grid);
/// From voxels to FSL's millimetres: the voxel's number times its size. `grid`: in FSL's storage.
voxel_map to_fsl_mm(const image_grid& grid);

/// The map by world coordinates.
voxel_map map_by_world(const image_grid& from, const image_grid& to);
/// The map that keeps FSL's millimetres. `from`, `to`: in FSL's storage.
voxel_map map_by_voxel_size(const image_grid& from, const image_grid& to);

}  // namespace voxherd
