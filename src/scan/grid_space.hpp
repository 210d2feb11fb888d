#pragma once

#include <array>

#include "core/analysis.hpp"

namespace voxherd {

using vector3 = std::array<double, 3>;
using matrix3 = std::array<double, 9>;  ///< row-major

matrix3 product(const matrix3& a, const matrix3& b);
matrix3 transposed(const matrix3& m);
double determinant(const matrix3& m);
matrix3 inverse(const matrix3& m);  ///< of a matrix that is not singular, as those of images that have been read

/// Where a grid lies in the world: between index coordinates (voxel centres at integers) and world mm.
struct grid_space {
  explicit grid_space(const image_grid& grid);

  vector3 to_world(const vector3& index) const;
  vector3 to_index(const vector3& world_mm) const;

  matrix3 axes_mm;  ///< columns: world vector of one voxel along each image axis
  matrix3 inverse_axes;
  vector3 origin_mm;  ///< world place of voxel (0, 0, 0)'s centre
};

/// The rotation from FSL's bvec frame to the world: image axes, the first with its sign changed where the determinant
/// of the voxel-to-world matrix is positive. Sheared axes give the nearest rotation, by polar decomposition.
matrix3 bvec_frame(const image_grid& grid);

/// frame * D * frame^T for a tensor xx, xy, xz, yy, yz, zz, in place.
void rotate_tensor(const matrix3& frame, float* six);

}  // namespace voxherd
