#pragma once

#include <array>

namespace voxherd {

/// From voxels to the world, row-major, as image_grid::voxel_to_world.
using voxel_matrix = std::array<double, 16>;

/// NIfTI's method 2: a rotation as the unit quaternion (a, b, c, d) without its first number, voxel sizes and an
/// offset.
struct quaternion_form {
  std::array<double, 3> bcd{}, offset{}, sizes{1, 1, 1};
  double qfac = 1;  ///< -1: the third axis is reversed
};

voxel_matrix to_matrix(const quaternion_form& form);
/// For a matrix that is sheared, the nearest rotation.
quaternion_form to_quaternion(const voxel_matrix& matrix);

/// Of matrices whose last row is 0 0 0 1; `m` is not singular.
voxel_matrix inverse(const voxel_matrix& m);
voxel_matrix product(const voxel_matrix& a, const voxel_matrix& b);

}  // namespace voxherd
