#include "kernels/track/surfaces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace voxherd::track {

namespace {

using point = std::array<double, 3>;

point cross(const point& a, const point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const point& a, const point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// A triangle and cubes: they are apart if their shadows on one of 13 axes are (Akenine-Moeller 2001, J Graph Tools
/// 6:29).
class triangle_test {
 public:
  triangle_test(const float* vertices, const surface_triangle& t) {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        corner_[i][d] = static_cast<double>(vertices[3 * std::size_t{t.corner[i]} + d]);
    std::array<point, 3> edge{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d) edge[i][d] = corner_[(i + 1) % 3][d] - corner_[i][d];
    axes_.push_back(cross(edge[0], edge[1]));
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d) {
        point along{};
        along[d] = 1;
        axes_.push_back(cross(edge[i], along));
      }
  }

  double lowest(std::size_t d) const { return std::min({corner_[0][d], corner_[1][d], corner_[2][d]}); }
  double highest(std::size_t d) const { return std::max({corner_[0][d], corner_[1][d], corner_[2][d]}); }

  /// Whether it touches the cube with this centre, whose axes it overlaps. `half`: half of its edge.
  bool touches(const point& centre, double half) const {
    return std::all_of(axes_.begin(), axes_.end(), [&](const point& axis) {
      const double reach = half * (std::abs(axis[0]) + std::abs(axis[1]) + std::abs(axis[2])),
                   middle = dot(axis, centre);
      const std::array<double, 3> shadow = {dot(axis, corner_[0]) - middle, dot(axis, corner_[1]) - middle,
                                            dot(axis, corner_[2]) - middle};
      return *std::min_element(shadow.begin(), shadow.end()) <= reach &&
             *std::max_element(shadow.begin(), shadow.end()) >= -reach;
    });
  }

 private:
  std::array<point, 3> corner_{};
  std::vector<point> axes_;
};

/// Calls use(voxel, number) for each triangle and each voxel of an image that it touches.
template <class Use>
void for_each_touched(const std::int32_t (&size)[3], std::span<const float> vertices,
                      std::span<const surface_triangle> triangles, double margin, const Use& use) {
  const double half = 0.5 + margin;
  for (std::size_t number = 0; number < triangles.size(); ++number) {
    const triangle_test triangle(vertices.data(), triangles[number]);
    std::int64_t first[3], last[3];
    for (std::size_t d = 0; d < 3; ++d) {
      const double end = size[d];
      first[d] = static_cast<std::int64_t>(std::clamp(std::ceil(triangle.lowest(d) - half), 0.0, end));
      last[d] = static_cast<std::int64_t>(std::clamp(std::floor(triangle.highest(d) + half), -1.0, end - 1));
    }
    for (std::int64_t z = first[2]; z <= last[2]; ++z)
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
        for (std::int64_t x = first[0]; x <= last[0]; ++x)
          if (triangle.touches({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}, half))
            use(static_cast<std::size_t>((z * size[1] + y) * size[0] + x), static_cast<std::uint32_t>(number));
  }
}

near_triangle with_plane(const float* vertices, const surface_triangle& t, std::uint32_t number) {
  const auto corner = [&](std::size_t i, std::size_t d) {
    return static_cast<double>(vertices[3 * std::size_t{t.corner[i]} + d]);
  };
  point first{}, one{}, other{};
  for (std::size_t d = 0; d < 3; ++d)
    first[d] = corner(0, d), one[d] = corner(1, d) - first[d], other[d] = corner(2, d) - first[d];
  const point normal = cross(one, other);
  const double length = std::sqrt(dot(normal, normal));
  near_triangle near;
  near.number = number;
  // The direction of a thin triangle is known too roughly.
  if (!(length > 1e-4 * std::max(dot(one, one), dot(other, other)))) return near;
  for (std::size_t d = 0; d < 3; ++d) near.normal[d] = static_cast<float>(normal[d] / length);
  near.offset = static_cast<float>(dot(normal, first) / length);
  return near;
}

}  // namespace

triangle_cells list_triangles(const std::int32_t (&size)[3], std::span<const float> vertices,
                              std::span<const surface_triangle> triangles, double margin) {
  std::size_t voxels = 1;
  for (const std::int32_t n : size) voxels *= static_cast<std::size_t>(n);
  triangle_cells cells;
  cells.begin.assign(voxels + 1, 0);
  for_each_touched(size, vertices, triangles, margin, [&](std::size_t v, std::uint32_t) { ++cells.begin[v + 1]; });
  for (std::size_t v = 0; v < voxels; ++v) cells.begin[v + 1] += cells.begin[v];
  cells.triangles.resize(cells.begin.back());
  std::vector<std::uint32_t> next(cells.begin.begin(), cells.begin.end() - 1);
  for_each_touched(size, vertices, triangles, margin, [&](std::size_t v, std::uint32_t number) {
    cells.triangles[next[v]++] = with_plane(vertices.data(), triangles[number], number);
  });
  return cells;
}

}  // namespace voxherd::track
