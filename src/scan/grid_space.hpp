#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/analysis.hpp"

namespace voxherd {

using vector3 = std::array<double, 3>;
using matrix3 = std::array<double, 9>;  ///< row-major

matrix3 product(const matrix3& a, const matrix3& b);
vector3 product(const matrix3& m, const vector3& v);
matrix3 transposed(const matrix3& m);
double determinant(const matrix3& m);
matrix3 inverse(const matrix3& m);  ///< `m` must not be singular; matrices of checked images never are

/// Converts between index coordinates (voxel centres at integers) and world mm.
struct grid_space {
  explicit grid_space(const image_grid& grid);

  vector3 to_world(const vector3& index) const;
  vector3 to_index(const vector3& world_mm) const;

  matrix3 axes_mm;  ///< columns: world vector of one voxel along each image axis
  matrix3 inverse_axes;
  vector3 origin_mm;  ///< world position of the centre of voxel (0, 0, 0)
};

/// Index coordinates of a voxel's centre, by its linear index.
vector3 voxel_position(const image_grid& grid, std::uint64_t voxel);

/// Linear index of the voxel that contains a place in index coordinates; nothing outside the image.
std::optional<std::uint64_t> find_voxel(const image_grid& grid, const vector3& index);

/// The rotation from FSL's bvec frame to the world: the image axes, with the first one negated if the determinant of
/// the voxel-to-world matrix is positive. For sheared axes it is the nearest rotation (polar decomposition). Row-major.
matrix3 bvec_frame(const image_grid& grid);

/// Replaces the tensor (xx, xy, xz, yy, yz, zz) by frame * D * frame^T.
void rotate_tensor(const matrix3& frame, float* six);

}  // namespace voxherd
