#include "src/scan/grid_space.hpp"

#include <cmath>

#include "src/io/nifti/storage_order.hpp"

namespace voxherd {

namespace {

/// The orthogonal factor of a matrix by Newton's iteration (Higham, SIAM J Sci Stat Comput 7:1160, 1986), which
/// converges quadratically from axes of unit length.
matrix3 nearest_orthogonal(matrix3 m) {
  for (int i = 0; i < 30; ++i) {
    const matrix3 other = transposed(inverse(m));
    double moved = 0;
    for (std::size_t k = 0; k < 9; ++k) {
      const double mean = (m[k] + other[k]) / 2;
      moved += std::abs(mean - m[k]);
      m[k] = mean;
    }
    if (moved < 1e-15) break;
  }
  return m;
}

}  // namespace

matrix3 product(const matrix3& a, const matrix3& b) {
  matrix3 c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

vector3 product(const matrix3& m, const vector3& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

matrix3 transposed(const matrix3& m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

double determinant(const matrix3& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

matrix3 inverse(const matrix3& m) {
  matrix3 cofactors = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                       m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                       m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double d = determinant(m);
  for (double& c : cofactors) c /= d;
  return cofactors;
}

grid_space::grid_space(const image_grid& grid) {
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) axes_mm[3 * r + c] = grid.voxel_to_world[4 * r + c];
    origin_mm[r] = grid.voxel_to_world[4 * r + 3];
  }
  inverse_axes = inverse(axes_mm);
}

vector3 grid_space::to_world(const vector3& index) const {
  vector3 w = product(axes_mm, index);
  for (std::size_t i = 0; i < 3; ++i) w[i] += origin_mm[i];
  return w;
}

vector3 grid_space::to_index(const vector3& world_mm) const {
  return product(inverse_axes,
                 vector3{world_mm[0] - origin_mm[0], world_mm[1] - origin_mm[1], world_mm[2] - origin_mm[2]});
}

vector3 voxel_position(const image_grid& grid, std::uint64_t voxel) {
  const auto& n = grid.size;
  return {static_cast<double>(voxel % n[0]), static_cast<double>(voxel / n[0] % n[1]),
          static_cast<double>(voxel / (n[0] * n[1]))};
}

std::optional<std::uint64_t> find_voxel(const image_grid& grid, const vector3& index) {
  std::uint64_t voxel = 0;
  for (std::size_t d = 3; d-- > 0;) {
    const double nearest = std::floor(index[d] + 0.5);
    if (!(nearest >= 0 && nearest < static_cast<double>(grid.size[d]))) return std::nullopt;
    voxel = voxel * grid.size[d] + static_cast<std::uint64_t>(nearest);
  }
  return voxel;
}

matrix3 bvec_frame(const image_grid& grid) {
  matrix3 axes = grid_space(grid).axes_mm;
  for (std::size_t c = 0; c < 3; ++c) {
    const double length = std::hypot(axes[c], axes[3 + c], axes[6 + c]);
    for (std::size_t r = 0; r < 3; ++r) axes[3 * r + c] /= length;
  }
  matrix3 frame = nearest_orthogonal(axes);
  if (is_right_handed(grid))
    for (std::size_t r = 0; r < 3; ++r) frame[3 * r] = -frame[3 * r];
  return frame;
}

void rotate_tensor(const matrix3& frame, float* six) {
  const matrix3 d = {six[0], six[1], six[2], six[1], six[3], six[4], six[2], six[4], six[5]};
  const matrix3 w = product(product(frame, d), transposed(frame));
  const double rotated[6] = {w[0], w[1], w[2], w[4], w[5], w[8]};
  for (int i = 0; i < 6; ++i) six[i] = static_cast<float>(rotated[i]);
}

}  // namespace voxherd
