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
    for (std::size_t d = 0; d < 3; ++d) {
      lowest_[d] = std::min({corner_[0][d], corner_[1][d], corner_[2][d]});
      highest_[d] = std::max({corner_[0][d], corner_[1][d], corner_[2][d]});
    }
    std::array<point, 3> edge{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d) edge[i][d] = corner_[(i + 1) % 3][d] - corner_[i][d];
    add(cross(edge[0], edge[1]));
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d) {
        point along{};
        along[d] = 1;
        add(cross(edge[i], along));
      }
  }

  /// Whether it touches the cube with this centre, which its box overlaps. `half`: half of the cube's edge.
  bool touches(const point& centre, double half) const {
    return std::all_of(shadows_.begin(), shadows_.end(), [&](const shadow& s) {
      const double middle = dot(s.axis, centre), reach = half * s.reach;
      return s.low <= middle + reach && s.high >= middle - reach;
    });
  }

  /// Its box.
  double lowest(std::size_t d) const { return lowest_[d]; }
  double highest(std::size_t d) const { return highest_[d]; }

 private:
  /// The projection on an axis.
  struct shadow {
    point axis;
    double low, high;  ///< of the triangle
    double reach;      ///< half the length of that of a cube with an edge of 2
  };

  void add(const point& axis) {
    const std::array<double, 3> at = {dot(axis, corner_[0]), dot(axis, corner_[1]), dot(axis, corner_[2])};
    shadows_[used_++] = {axis, *std::min_element(at.begin(), at.end()), *std::max_element(at.begin(), at.end()),
                         std::abs(axis[0]) + std::abs(axis[1]) + std::abs(axis[2])};
  }

  std::array<point, 3> corner_{};
  point lowest_{}, highest_{};
  std::array<shadow, 10> shadows_{};
  std::size_t used_ = 0;
};

/// The cubes of a voxel that a triangle touches, one bit each.
std::uint64_t find_cubes(const triangle_test& triangle, const point& voxel, double margin) {
  const double half = 0.125 + margin;
  std::array<std::array<double, 4>, 3> centre{};
  std::array<unsigned, 3> first{}, end{};  // of the cubes that the triangle's box overlaps, along each axis
  for (std::size_t d = 0; d < 3; ++d) {
    for (unsigned i = 0; i < 4; ++i) centre[d][i] = voxel[d] + 0.25 * i - 0.375;
    while (first[d] < 4 && triangle.lowest(d) > centre[d][first[d]] + half) ++first[d];
    end[d] = first[d];
    while (end[d] < 4 && triangle.highest(d) >= centre[d][end[d]] - half) ++end[d];
  }
  std::uint64_t cubes = 0;
  for (unsigned z = first[2]; z < end[2]; ++z)
    for (unsigned y = first[1]; y < end[1]; ++y)
      for (unsigned x = first[0]; x < end[0]; ++x)
        if (triangle.touches({centre[0][x], centre[1][y], centre[2][z]}, half))
          cubes |= std::uint64_t{1} << (16 * z + 4 * y + x);
  return cubes;
}

/// Calls use(voxel, number, cubes) for each triangle and each voxel of an image that it touches.
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
        for (std::int64_t x = first[0]; x <= last[0]; ++x) {
          const point voxel = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
          if (!triangle.touches(voxel, half)) continue;
          if (const std::uint64_t cubes = find_cubes(triangle, voxel, margin); cubes != 0)
            use(static_cast<std::size_t>((z * size[1] + y) * size[0] + x), static_cast<std::uint32_t>(number), cubes);
        }
  }
}

near_triangle with_plane(const float* vertices, const surface_triangle& t) {
  const auto corner = [&](std::size_t i, std::size_t d) {
    return static_cast<double>(vertices[3 * std::size_t{t.corner[i]} + d]);
  };
  point first{}, one{}, other{};
  for (std::size_t d = 0; d < 3; ++d)
    first[d] = corner(0, d), one[d] = corner(1, d) - first[d], other[d] = corner(2, d) - first[d];
  const point normal = cross(one, other);
  const double length = std::sqrt(dot(normal, normal));
  near_triangle near;
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
  cells.cubes.assign(voxels, 0);
  cells.begin.assign(voxels + 1, 0);
  struct touch {
    std::size_t voxel;
    std::uint32_t number;
    std::uint64_t cubes;
  };
  std::vector<touch> touches;
  for_each_touched(size, vertices, triangles, margin, [&](std::size_t v, std::uint32_t number, std::uint64_t cubes) {
    touches.push_back({v, number, cubes});
    cells.cubes[v] |= cubes;
    ++cells.begin[v + 1];
  });
  for (std::size_t v = 0; v < voxels; ++v) cells.begin[v + 1] += cells.begin[v];
  cells.triangles.resize(touches.size());
  std::vector<std::uint32_t> next(cells.begin.begin(), cells.begin.end() - 1);
  for (const touch& t : touches) {
    near_triangle& near = cells.triangles[next[t.voxel]++];
    near = with_plane(vertices.data(), triangles[t.number]);
    near.cubes = t.cubes, near.number = t.number;
  }
  return cells;
}

}  // namespace voxherd::track
