#include "src/scan/voxel_map.hpp"

#include <cmath>

namespace voxherd {

namespace {

/// Numbers whose difference from a round one is only that of their computation.
double without_noise(double x) { return std::round(x * 1e9) / 1e9; }

}  // namespace

vector3 voxel_map::operator()(const vector3& v) const {
  vector3 to{};
  for (std::size_t d = 0; d < 3; ++d)
    to[d] = axes[3 * d] * v[0] + axes[3 * d + 1] * v[1] + axes[3 * d + 2] * v[2] + origin[d];
  return to;
}

voxel_map voxel_map::inverse() const {
  voxel_map back{voxherd::inverse(axes), {}};
  const vector3 moved = back(origin);
  for (std::size_t d = 0; d < 3; ++d) back.origin[d] = -moved[d];
  return back;
}

bool voxel_map::is_identity() const {
  const track::point_map map = rounded();
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 4; ++k)
      if (map.rows[d][k] != (d == k ? 1 : 0)) return false;
  return true;
}

track::point_map voxel_map::rounded() const {
  track::point_map map;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t k = 0; k < 3; ++k) map.rows[d][k] = static_cast<float>(without_noise(axes[3 * d + k]));
    map.rows[d][3] = static_cast<float>(without_noise(origin[d]));
  }
  return map;
}

voxel_map product(const voxel_map& first, const voxel_map& second) {
  return {product(second.axes, first.axes), second(first.origin)};
}

voxel_map to_world(const image_grid& grid) {
  const grid_space space(grid);
  return {space.axes_mm, space.origin_mm};
}

voxel_map to_fsl_mm(const image_grid& grid) {
  voxel_map map;
  for (std::size_t d = 0; d < 3; ++d) map.axes[4 * d] = grid.voxel_size_mm[d];
  return map;
}

voxel_map map_by_world(const image_grid& from, const image_grid& to) {
  return product(to_world(from), to_world(to).inverse());
}

voxel_map map_by_voxel_size(const image_grid& from, const image_grid& to) {
  return product(to_fsl_mm(from), to_fsl_mm(to).inverse());
}

}  // namespace voxherd
