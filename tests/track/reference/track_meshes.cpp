#include "tests/track/reference/track_meshes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace voxherd::track {

void track_mesh::add(const std::vector<std::array<float, 3>>& points,
                     const std::vector<std::array<std::uint32_t, 3>>& corners, const surface_use& use) {
  const auto first = static_cast<std::uint32_t>(vertices.size() / 3);
  for (const auto& p : points) vertices.insert(vertices.end(), p.begin(), p.end());
  for (std::array<std::uint32_t, 3> c : corners) {
    std::sort(c.begin(), c.end());
    triangles.push_back({{first + c[0], first + c[1], first + c[2]}, static_cast<std::uint32_t>(uses.size())});
  }
  uses.push_back(use);
}

void track_mesh::add_sheet(float x, const surface_use& use) {
  const auto y = static_cast<float>(size[1]), z = static_cast<float>(size[2]);
  add({{x, -1, -1}, {x, y, -1}, {x, -1, z}, {x, y, z}}, {{0, 1, 2}, {3, 2, 1}}, use);
}

void track_mesh::list_cells() {
  const std::int32_t n[3] = {size[0], size[1], size[2]};
  cells = list_triangles(n, vertices, triangles, 0.01);
}

surface_input track_mesh::input() const {
  surface_input in{cells.cubes, cells.begin, cells.triangles, triangles, vertices, uses, targets, {}};
  for (std::size_t d = 0; d < 3; ++d) in.corner_reach[d] = corner_reach[d];
  return in;
}

surface_view track_mesh::view() const {
  track_input in;
  for (std::size_t d = 0; d < 3; ++d) in.size[d] = size[d];
  in.surfaces = input();
  return host_surfaces(in);
}

namespace {

using mesh_point = std::array<double, 3>;

double volume(const mesh_point& a, const mesh_point& b, const mesh_point& c, const mesh_point& d) {
  const auto part = [&](std::size_t i, std::size_t j, std::size_t k) {
    return (b[i] - a[i]) * ((c[j] - a[j]) * (d[k] - a[k]) - (c[k] - a[k]) * (d[j] - a[j]));
  };
  return part(0, 1, 2) + part(1, 2, 0) + part(2, 0, 1);
}

}  // namespace

crossed_surfaces find_crossed(const track_mesh& mesh, const mesh_point& from, const mesh_point& to) {
  crossed_surfaces crossed;
  for (const surface_triangle& t : mesh.triangles) {
    std::array<mesh_point, 3> c{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d) c[i][d] = static_cast<double>(mesh.vertices[3 * t.corner[i] + d]);
    if (volume(c[0], c[1], c[2], from) * volume(c[0], c[1], c[2], to) > 0) continue;
    const std::array<double, 3> sides = {volume(from, to, c[0], c[1]), volume(from, to, c[1], c[2]),
                                         volume(from, to, c[2], c[0])};
    if (*std::min_element(sides.begin(), sides.end()) < 0 && *std::max_element(sides.begin(), sides.end()) > 0)
      continue;
    const surface_use& use = mesh.uses[t.surface];
    crossed.marks |= use.marks;
    crossed.exits |= use.exits;
    crossed.targets.insert(crossed.targets.end(), mesh.targets.begin() + use.first_target,
                           mesh.targets.begin() + use.end_target);
  }
  return crossed;
}

void add_cube(track_mesh& mesh, float low, float high, const surface_use& use) {
  std::vector<std::array<float, 3>> points;
  for (int i = 0; i < 8; ++i)
    points.push_back({(i & 1) != 0 ? high : low, (i & 2) != 0 ? high : low, (i & 4) != 0 ? high : low});
  mesh.add(points,
           {{0, 1, 3},
            {0, 3, 2},
            {4, 5, 7},
            {4, 7, 6},
            {0, 1, 5},
            {0, 5, 4},
            {2, 3, 7},
            {2, 7, 6},
            {0, 2, 6},
            {0, 6, 4},
            {1, 3, 7},
            {1, 7, 5}},
           use);
}

void add_sphere(track_mesh& mesh, std::array<float, 3> centre, float radius, int cuts, const surface_use& use) {
  std::vector<std::array<double, 3>> points = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  std::vector<std::array<std::uint32_t, 3>> corners;
  for (const std::uint32_t x : {0u, 1u})
    for (const std::uint32_t y : {2u, 3u})
      for (const std::uint32_t z : {4u, 5u}) corners.push_back({x, y, z});
  for (int cut = 0; cut < cuts; ++cut) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [at, added] = middles.insert({std::minmax(a, b), static_cast<std::uint32_t>(points.size())});
      if (added) {
        std::array<double, 3> m{};
        for (std::size_t d = 0; d < 3; ++d) m[d] = points[a][d] + points[b][d];
        const double length = std::hypot(m[0], m[1], m[2]);
        for (double& v : m) v /= length;
        points.push_back(m);
      }
      return at->second;
    };
    std::vector<std::array<std::uint32_t, 3>> parts;
    for (const auto& [a, b, c] : corners) {
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      for (const auto& part : {std::array{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}}) parts.push_back(part);
    }
    corners = std::move(parts);
  }
  std::vector<std::array<float, 3>> rounded;
  for (const auto& p : points) {
    std::array<float, 3> r{};
    for (std::size_t d = 0; d < 3; ++d)
      r[d] = static_cast<float>(
          std::round((p[d] * static_cast<double>(radius) + static_cast<double>(centre[d])) * 1024) / 1024);
    rounded.push_back(r);
  }
  mesh.add(rounded, corners, use);
}

}  // namespace voxherd::track
