#include "src/scan/warps/voxel_warp.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd {

namespace {

/// The linear part, applied to a displacement.
vector3 turn(const matrix3& m, const vector3& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

/// The displacements with their margin: one layer with those of the border, one without any.
std::vector<track::displacement> make_values(const mm_field& field, const matrix3& axes) {
  constexpr std::int64_t margin = voxel_warp::margin;
  std::int64_t n[3], wide[3];
  for (std::size_t d = 0; d < 3; ++d) n[d] = static_cast<std::int64_t>(field.size[d]), wide[d] = n[d] + 2 * margin;
  std::vector<track::displacement> values(static_cast<std::size_t>(wide[0] * wide[1] * wide[2]));
  std::size_t to = 0;
  for (std::int64_t z = 0; z < wide[2]; ++z)
    for (std::int64_t y = 0; y < wide[1]; ++y)
      for (std::int64_t x = 0; x < wide[0]; ++x, ++to) {
        const std::int64_t at[3] = {x, y, z};
        std::int64_t from = 0;
        bool has_none = false;
        for (std::size_t d = 3; d-- > 0;) {
          has_none |= at[d] == 0 || at[d] == wide[d] - 1;
          from = from * n[d] + std::clamp<std::int64_t>(at[d] - margin, 0, n[d] - 1);
        }
        if (has_none) continue;
        const auto& mm = field.mm[static_cast<std::size_t>(from)];
        const vector3 moved =
            turn(axes, {static_cast<double>(mm[0]), static_cast<double>(mm[1]), static_cast<double>(mm[2])});
        for (std::size_t d = 0; d < 3; ++d) values[to].along[d] = static_cast<float>(moved[d]);
      }
  return values;
}

}  // namespace

std::size_t warp_shape::points() const {
  return static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]) * static_cast<std::size_t>(size[2]);
}

vector3 voxel_warp::operator()(const vector3& voxel) const {
  vector3 to = affine(voxel);
  if (values == nullptr) return to;
  const vector3 at = to_field(voxel);
  std::size_t corner = 0;
  double share[3];
  for (std::size_t d = 3; d-- > 0;) {
    const double inside = std::clamp(at[d], 0.0, static_cast<double>(size[d] - 1));
    const double cell = std::min(std::floor(inside), static_cast<double>(size[d] - 2));
    share[d] = inside - cell;
    corner = corner * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(cell);
  }
  const std::size_t stride[3] = {1, static_cast<std::size_t>(size[0]),
                                 static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1])};
  for (unsigned c = 0; c < 8; ++c) {
    double weight = 1;
    std::size_t point = corner;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool far = (c >> d & 1u) != 0;
      weight *= far ? share[d] : 1 - share[d];
      point += far ? stride[d] : 0;
    }
    for (std::size_t d = 0; d < 3; ++d) to[d] += weight * static_cast<double>(values[point].along[d]);
  }
  return to;
}

voxel_box voxel_warp::bounds(const vector3& voxel, const vector3& half) const {
  const auto extent = [&](const voxel_map& map, std::size_t d) {
    double far = 0;
    for (std::size_t k = 0; k < 3; ++k) far += std::abs(map.axes[3 * d + k]) * half[k];
    return far;
  };
  const vector3 centre = affine(voxel);
  voxel_box box{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double far = extent(affine, d);
    box.low[d] = centre[d] - far, box.high[d] = centre[d] + far;
  }
  if (values == nullptr) return box;
  // Between the points of the grid a displacement is a mean of those at its corners.
  const vector3 at = to_field(voxel);
  std::size_t first[3], last[3];
  for (std::size_t d = 0; d < 3; ++d) {
    const double far = extent(to_field, d), end = static_cast<double>(size[d] - 1);
    first[d] = static_cast<std::size_t>(std::floor(std::clamp(at[d] - far, 0.0, end)));
    last[d] = static_cast<std::size_t>(std::ceil(std::clamp(at[d] + far, 0.0, end)));
  }
  float low[3], high[3];
  std::fill_n(low, 3, INFINITY), std::fill_n(high, 3, -INFINITY);
  for (std::size_t z = first[2]; z <= last[2]; ++z)
    for (std::size_t y = first[1]; y <= last[1]; ++y) {
      const std::size_t row = (z * static_cast<std::size_t>(size[1]) + y) * static_cast<std::size_t>(size[0]);
      for (std::size_t x = first[0]; x <= last[0]; ++x)
        for (std::size_t d = 0; d < 3; ++d) {
          const float moved = values[row + x].along[d];
          low[d] = std::min(low[d], moved), high[d] = std::max(high[d], moved);
        }
    }
  for (std::size_t d = 0; d < 3; ++d)
    box.low[d] += static_cast<double>(low[d]), box.high[d] += static_cast<double>(high[d]);
  return box;
}

bool voxel_warp::covers(const vector3& voxel) const {
  const vector3 at = to_field(voxel);
  for (std::size_t d = 0; d < 3; ++d)
    if (!(at[d] >= margin - 0.5 && at[d] <= size[d] - 1 - margin + 0.5)) return false;
  return true;
}

bool voxel_warp::is_identity() const {
  return affine.is_identity() && std::all_of(values, values + points(), [](const track::displacement& d) {
           return d.along[0] == 0 && d.along[1] == 0 && d.along[2] == 0;
         });
}

track::point_warp voxel_warp::view() const {
  track::point_warp view;
  view.affine = affine.rounded();
  if (values == nullptr) return view;
  std::copy(size.begin(), size.end(), view.field.size);
  view.field.values = values;
  view.field.to_field = to_field.rounded();
  return view;
}

new_warp make_voxel_warp(const transform& t, const fsl_grid& new_image, const fsl_grid& old_image) {
  const auto to_mm = t.frame == mm_frame::fsl ? to_fsl_mm : to_world;
  new_warp made;
  if (t.is_inverse) {  // the map of points is inverted once, in voxels
    made.map.affine = product(product(to_mm(old_image), t.before), to_mm(new_image).inverse()).inverse();
    return made;
  }
  const voxel_map moved = product(to_mm(new_image), t.before), back = product(t.after, to_mm(old_image).inverse());
  made.map.affine = product(moved, back);
  if (!t.has_field()) return made;
  made.map.to_field = product(moved, t.field.to_voxel);
  for (std::size_t d = 0; d < 3; ++d) {
    made.map.to_field.origin[d] += voxel_warp::margin;
    made.map.size[d] = static_cast<std::int32_t>(t.field.size[d]) + 2 * voxel_warp::margin;
  }
  made.values = make_values(t.field, back.axes);
  return made;
}

inverse_error find_inverse_error(const image_grid& grid, const voxel_warp& there, const voxel_warp& back,
                                 const image_grid& other, const std::vector<std::uint8_t>& used) {
  constexpr std::uint64_t max_tested = 300'000;
  const std::uint64_t stride = (1 + grid.voxel_count() / max_tested) | 1u;
  std::vector<double> mm;
  for (std::uint64_t v = 0; v < grid.voxel_count(); v += stride) {
    const vector3 from = voxel_position(grid, v), to = there(from);
    const auto voxel = find_voxel(other, to);
    if (!voxel || used[*voxel] == 0) continue;
    const vector3 again = back(to);
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) square += std::pow((again[d] - from[d]) * grid.voxel_size_mm[d], 2);
    mm.push_back(std::sqrt(square));
  }
  inverse_error error;
  error.points = mm.size();
  if (mm.empty()) return error;
  std::sort(mm.begin(), mm.end());
  error.median_mm = mm[mm.size() / 2];
  error.p95_mm = mm[mm.size() * 95 / 100];
  return error;
}

}  // namespace voxherd
