#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/track/tracker.hpp"

namespace voxherd::track {

/// Surfaces for tests, in voxels of an image.
struct track_mesh {
  std::array<std::int32_t, 3> size;
  std::vector<float> vertices;
  std::vector<surface_triangle> triangles;
  std::vector<surface_use> uses;
  std::vector<std::uint32_t> targets;
  triangle_cells cells;
  std::array<float, 3> corner_reach{};

  explicit track_mesh(std::array<std::int32_t, 3> box) : size(box) {}

  /// Appends a surface; `corners`: numbers of its own points.
  void add(const std::vector<std::array<float, 3>>& points, const std::vector<std::array<std::uint32_t, 3>>& corners,
           const surface_use& use);
  /// A rectangle x = `x`, in two triangles.
  void add_sheet(float x, const surface_use& use);
  /// After the last add().
  void list_cells();

  surface_input input() const;
  surface_view view() const;
};

/// What a step crosses, by the volumes of tetrahedra in double precision.
struct crossed_surfaces {
  std::uint32_t marks = 0, exits = 0;
  std::vector<std::uint32_t> targets;
};
crossed_surfaces find_crossed(const track_mesh& mesh, const std::array<double, 3>& from,
                              const std::array<double, 3>& to);

/// A cube, 12 triangles.
void add_cube(track_mesh& mesh, float low, float high, const surface_use& use);
/// An octahedron whose triangles are cut into four `cuts` times, on a sphere; coordinates are multiples of 1/1024.
void add_sphere(track_mesh& mesh, std::array<float, 3> centre, float radius, int cuts, const surface_use& use);

}  // namespace voxherd::track
