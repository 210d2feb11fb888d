#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/track/reference/track_meshes.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

using wide = __int128;
using lattice_point = std::array<std::int64_t, 3>;  ///< in units of 1/1024

lattice_point to_lattice(const float* p) {
  lattice_point l{};
  for (std::size_t d = 0; d < 3; ++d) l[d] = std::lround(static_cast<double>(p[d]) * 1024);
  return l;
}

/// The sign of the volume between four points, in integers.
int exact_sign(const lattice_point& a, const lattice_point& b, const lattice_point& c, const lattice_point& d) {
  const auto part = [&](std::size_t i, std::size_t j, std::size_t k) {
    return wide{b[i] - a[i]} * (wide{c[j] - a[j]} * (d[k] - a[k]) - wide{c[k] - a[k]} * (d[j] - a[j]));
  };
  const wide sum = part(0, 1, 2) + part(1, 2, 0) + part(2, 0, 1);
  return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

/// The triangles that a line meets, from the description of the rule.
std::set<std::uint32_t> meet_exactly(const track_mesh& mesh, const step_line& line) {
  std::set<std::uint32_t> found;
  const lattice_point p = to_lattice(line.from), q = to_lattice(line.to);
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    std::array<lattice_point, 3> c{};
    bool at_corner = false;
    for (std::size_t i = 0; i < 3; ++i) {
      c[i] = to_lattice(&mesh.vertices[3 * std::size_t{mesh.triangles[t].corner[i]}]);
      at_corner = at_corner || c[i] == p || c[i] == q;
    }
    const int from = exact_sign(c[0], c[1], c[2], p), to = exact_sign(c[0], c[1], c[2], q);
    const std::array<int, 3> side = {exact_sign(p, q, c[0], c[1]), exact_sign(p, q, c[1], c[2]),
                                     exact_sign(p, q, c[2], c[0])};
    const bool inside =
        *std::min_element(side.begin(), side.end()) >= 0 || *std::max_element(side.begin(), side.end()) <= 0;
    if (at_corner || (from != to && inside)) found.insert(t);
  }
  return found;
}

std::set<std::uint32_t> meet_by_search(const surface_view& view, const step_line& line) {
  std::set<std::uint32_t> found;
  surface_search search(view, line);
  surface_triangle triangle;
  for (std::uint32_t number = 0; search.find_next(view, triangle, number);) found.insert(number);
  return found;
}

/// 1: inside a convex mesh around `centre`, -1: outside, 0: on it.
int place_in(const track_mesh& mesh, const lattice_point& centre, const lattice_point& p) {
  int place = 1;
  for (const surface_triangle& t : mesh.triangles) {
    std::array<lattice_point, 3> c{};
    for (std::size_t i = 0; i < 3; ++i) c[i] = to_lattice(&mesh.vertices[3 * std::size_t{t.corner[i]}]);
    place = std::min(place, exact_sign(c[0], c[1], c[2], p) * exact_sign(c[0], c[1], c[2], centre));
  }
  return place;
}

constexpr surface_use any_use = {mark::stop, 0, 0, 0};

step_line random_line(std::mt19937& chance, float from, float to, float step, int units) {
  std::uniform_real_distribution<float> start(from, to), move(-step, step);
  const auto rounded = [units](float v) {
    return std::round(v * static_cast<float>(units)) / static_cast<float>(units);
  };
  step_line line{};
  for (int d = 0; d < 3; ++d) {
    line.from[d] = rounded(start(chance));
    line.to[d] = rounded(line.from[d] + move(chance));
  }
  return line;
}

TEST(TrackSurfaces, TheSearchMeetsTheTrianglesThatIntegersMeet) {
  track_mesh mesh({13, 12, 11});
  add_sphere(mesh, {6, 5.5f, 5}, 3.7f, 3, any_use);
  add_cube(mesh, 2, 6, any_use);
  mesh.list_cells();
  std::mt19937 chance(1);
  std::size_t met = 0, on_edges = 0;
  for (const int units : {1024, 64, 4, 1})  // coarse lines meet edges and corners of the cube
    for (int i = 0; i < 4000; ++i) {
      const step_line line = random_line(chance, 1, 8, units < 64 ? 2.0f : 0.7f, units);
      const auto expected = meet_exactly(mesh, line);
      ASSERT_EQ(meet_by_search(mesh.view(), line), expected) << units << ' ' << i;
      met += expected.size();
      on_edges += expected.size() > 2 ? 1 : 0;
    }
  EXPECT_GT(met, 4000u);
  EXPECT_GT(on_edges, 500u);
}

TEST(TrackSurfaces, LinesCrossAClosedSurfaceAnOddNumberOfTimesIfOneEndIsInside) {
  track_mesh mesh({13, 12, 11});
  add_sphere(mesh, {6, 5.5f, 5}, 3.7f, 3, any_use);
  mesh.list_cells();
  const float middle[3] = {6, 5.5f, 5};
  std::mt19937 chance(2);
  int crossed = 0;
  for (int i = 0; i < 5000; ++i) {
    const step_line line = random_line(chance, 2, 9, 2, 1024);
    const int from = place_in(mesh, to_lattice(middle), to_lattice(line.from)),
              to = place_in(mesh, to_lattice(middle), to_lattice(line.to));
    const auto found = meet_by_search(mesh.view(), line);
    ASSERT_EQ(found.size() % 2 == 1, from != to) << i;  // no line of these meets an edge
    crossed += from != to ? 1 : 0;
  }
  EXPECT_GT(crossed, 500);
}

// Points on the planes, edges and corners of a cube: what leaves it has met it.
TEST(TrackSurfaces, NoWalkSlipsThroughEdgesAndCorners) {
  track_mesh mesh({9, 9, 9});
  add_cube(mesh, 2, 6, any_use);
  mesh.list_cells();
  const float middle[3] = {4, 4, 4};
  std::mt19937 chance(3);
  int passages = 0;
  for (int walk = 0; walk < 300; ++walk) {
    step_line line{{4, 4, 4}, {4, 4, 4}};
    int last = 1;
    bool has_met = false;
    for (int i = 0; i < 40; ++i) {
      const step_line next = random_line(chance, 4, 4, 1.3f, 2);
      for (int d = 0; d < 3; ++d) line.from[d] = line.to[d], line.to[d] += next.to[d] - next.from[d];
      if (line.from[0] == line.to[0] && line.from[1] == line.to[1] && line.from[2] == line.to[2]) continue;
      has_met |= !meet_by_search(mesh.view(), line).empty();
      const int now = place_in(mesh, to_lattice(middle), to_lattice(line.to));
      if (now == 0) continue;
      ASSERT_TRUE(now == last || has_met) << walk << ' ' << i;
      passages += now != last ? 1 : 0;
      last = now;
      has_met = false;
    }
  }
  EXPECT_GT(passages, 300);
}

TEST(TrackSurfaces, SignsAreExactWhereDoublesAreNot) {
  // Nearly in one plane: the volume is 2^-66 of the product of the lengths.
  const float a[3] = {0, 0, 0}, b[3] = {1 + 0x1p-22f, 1, 1}, c[3] = {1, 1 + 0x1p-22f, 1},
              in_plane[3] = {2 + 0x1p-22f, 2 + 0x1p-22f, 2};
  EXPECT_EQ(volume_sign(a, b, c, in_plane), 0);
  for (const int side : {-1, 1}) {
    float d[3] = {in_plane[0], in_plane[1], std::nextafter(2.0f, side > 0 ? 3.0f : 1.0f)};
    EXPECT_EQ(volume_sign(a, b, c, d), side);
    EXPECT_EQ(volume_sign(b, a, c, d), -side);
  }
}

TEST(TrackSurfaces, AnEndAtACornerTouchesAndALineInThePlaneDoesNot) {
  track_mesh mesh({9, 9, 9});
  mesh.add({{2, 2, 4}, {6, 2, 4}, {2, 6, 4}}, {{0, 1, 2}}, any_use);
  mesh.corner_reach = {0.001f, 0.001f, 0.001f};
  mesh.list_cells();
  const auto meets_it = [&](const step_line& line) { return !meet_by_search(mesh.view(), line).empty(); };
  EXPECT_TRUE(meets_it({{2, 2, 4}, {2, 2, 5}}));
  EXPECT_TRUE(meets_it({{2, 1.9995f, 4.0005f}, {2, 1, 5}}));
  EXPECT_FALSE(meets_it({{2, 1.998f, 4}, {2, 1, 5}}));
  EXPECT_FALSE(meets_it({{3, 3, 4}, {3.5f, 3, 4}}));
  EXPECT_TRUE(meets_it({{2, 2, 4}, {2.5f, 2, 4}}));
  EXPECT_TRUE(meets_it({{3, 3, 4}, {3, 3, 4.5f}}));
  EXPECT_TRUE(meets_it({{4, 4, 3.5f}, {4, 4, 4}}));
  EXPECT_FALSE(meets_it({{4.5f, 4.5f, 3.5f}, {4.5f, 4.5f, 4.5f}}));
}

TEST(TrackSurfaces, ACrossingReachesTheCornerThatIsNearestInMillimetres) {
  track_mesh mesh({12, 12, 9});
  mesh.add({{2, 2, 4}, {10, 4, 4}, {3, 9, 4}}, {{0, 1, 2}}, any_use);
  mesh.list_cells();
  surface_view view = mesh.view();
  const auto corner_at = [&](float x, float y) {
    return find_nearest_corner(view, mesh.triangles[0], {{x - 0.2f, y, 3.5f}, {x + 0.2f, y, 4.5f}});
  };
  EXPECT_EQ(corner_at(2.5f, 3.5f), 0);
  EXPECT_EQ(corner_at(5, 5), 0);
  EXPECT_EQ(corner_at(4.5f, 6), 2);
  EXPECT_EQ(corner_at(6.5f, 5), 1);
  view.voxel_mm[1] = 3;
  EXPECT_EQ(corner_at(5, 5), 1);
}

}  // namespace
}  // namespace voxherd::track
