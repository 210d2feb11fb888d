#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/portable/contract.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/track/exact_sign.hpp"

namespace voxherd::track {

/// A triangle of a surface that is a mask. Its corners are numbers of vertices in ascending order, so that triangles
/// with a common edge compute the same for it.
struct alignas(16) surface_triangle {
  std::uint32_t corner[3];
  std::uint32_t surface : 29;  ///< number of its surface
  std::uint32_t tips : 3 = 0;  ///< bit i: corner i belongs to no other triangle

  static constexpr bool bytes_are_value = true;
};

/// A triangle near a voxel, with its plane: points of one side have a positive distance to it, in voxels.
struct alignas(16) near_triangle {
  float normal[3] = {};  ///< of length 1; 0 if the corners are on a line
  float offset = 0;
  std::uint64_t cubes = 0;  ///< those of the voxel that it touches, one bit each: a voxel has 4 x 4 x 4 of them
  std::uint32_t number = 0;
  std::uint32_t unused = 0;

  static constexpr auto members() {
    using T = near_triangle;
    return std::tuple(&T::normal, &T::offset, &T::cubes, &T::number, &T::unused);
  }

  VOXHERD_FUNCTION float distance(const float (&p)[3]) const {
    return lane::fma(normal[0], p[0], lane::fma(normal[1], p[1], lane::fma(normal[2], p[2], -offset)));
  }
};

/// What a surface is a mask of; the same for all of its triangles.
struct surface_use {
  std::uint32_t marks = 0;                         ///< bits of namespace mark
  std::uint32_t exits = 0;                         ///< masks not to leave, one bit each
  std::uint32_t first_target = 0, end_target = 0;  ///< its targets: targets[first_target ... end_target - 1]

  static constexpr auto members() {
    using T = surface_use;
    return std::tuple(&T::marks, &T::exits, &T::first_target, &T::end_target);
  }

  VOXHERD_FUNCTION bool is_mask() const { return (marks | exits) != 0 || first_target != end_target; }
};

/// Surfaces in voxels of the seeds' image, and the triangles that touch each of its voxels: those of voxel i are
/// cell_triangles[cell_begin[i] ... cell_begin[i + 1] - 1]. Parts outside the image are never crossed.
struct surface_view {
  std::int32_t size[3] = {};                  ///< voxels of the image
  const std::uint64_t* cubes = nullptr;       ///< of each voxel, those that any triangle touches
  const std::uint32_t* cell_begin = nullptr;  ///< null: there are no surfaces
  const near_triangle* cell_triangles = nullptr;
  const surface_triangle* triangles = nullptr;
  const float* vertices = nullptr;  ///< x, y, z of each
  const surface_use* uses = nullptr;
  const std::uint32_t* targets = nullptr;
  bool has_columns = false;    ///< vertices are columns of a matrix, also of surfaces that are no masks
  bool one_corner = false;     ///< a line reaches one corner of a triangle, not all three
  float voxel_mm[3] = {};      ///< size of the voxels, for the nearest corner
  float corner_reach[3] = {};  ///< along each axis, how far from a corner an end of a step touches it
  float plane_reach = 0;       ///< steps farther from a plane, on one side of it, do not meet the triangle for certain
};

/// The arrays of a surface_view in host memory; empty: there are none.
struct surface_input {
  std::span<const std::uint64_t> cubes;
  std::span<const std::uint32_t> cell_begin;
  std::span<const near_triangle> cell_triangles;
  std::span<const surface_triangle> triangles;
  std::span<const float> vertices;
  std::span<const surface_use> uses;
  std::span<const std::uint32_t> targets;
  float corner_reach[3] = {};
  bool one_corner = false;
  float voxel_mm[3] = {1, 1, 1};
};

/// The line between two successive points of a streamline.
struct step_line {
  float from[3], to[3];
};

/// Whether a line meets a triangle; ends, edges and corners belong to them. Signs are exact, so that no line passes
/// between two triangles with a common edge, nor two successive lines on both sides of their common point. A line in
/// the plane of the triangle meets it only if one of its ends is at a corner.
VOXHERD_FUNCTION inline bool meets(const surface_view& s, const surface_triangle& t, const step_line& line) {
  const float* corner[3];
  bool at_corner = false;
  for (int i = 0; i < 3; ++i) {
    corner[i] = s.vertices + std::size_t{3} * t.corner[i];
    bool from_there = true, to_there = true;
    for (int d = 0; d < 3; ++d) {
      from_there = from_there && fabsf(line.from[d] - corner[i][d]) <= s.corner_reach[d];
      to_there = to_there && fabsf(line.to[d] - corner[i][d]) <= s.corner_reach[d];
    }
    at_corner = at_corner || from_there || to_there;
  }
  if (at_corner) return true;
  const int from = volume_sign(corner[0], corner[1], corner[2], line.from),
            to = volume_sign(corner[0], corner[1], corner[2], line.to);
  if (from == to) return false;  // on one side, or in the plane
  const int first = volume_sign(line.from, line.to, corner[0], corner[1]),
            second = volume_sign(line.from, line.to, corner[1], corner[2]),
            third = -volume_sign(line.from, line.to, corner[0], corner[2]);
  return (first >= 0 && second >= 0 && third >= 0) || (first <= 0 && second <= 0 && third <= 0);
}

/// The cubes that the box around a line touches. Cubes and not voxels, since nearly all steps are near no triangle,
/// and on a GPU the few others of a warp delay all of its streamlines.
class touched_cubes {
 public:
  VOXHERD_FUNCTION touched_cubes(const surface_view& surfaces, const step_line& line) {
    for (int d = 0; d < 3; ++d) {
      const bool ascends = line.from[d] < line.to[d];
      const auto size = 4 * static_cast<float>(surfaces.size[d]);
      first_[d] = find_cube(ascends ? line.from[d] : line.to[d], 0.0f, size);
      last_[d] = find_cube(ascends ? line.to[d] : line.from[d], -1.0f, size - 1);
    }
  }

  VOXHERD_FUNCTION std::int32_t first_voxel(int axis) const { return first_[axis] >> 2; }
  VOXHERD_FUNCTION std::int32_t last_voxel(int axis) const { return last_[axis] >> 2; }

  /// One bit for each of a voxel: number x + 4 (y + 4 z).
  VOXHERD_FUNCTION std::uint64_t of_voxel(const std::int32_t (&voxel)[3]) const {
    return along(0, voxel[0], 1, 0xf) * along(1, voxel[1], 4, 0x1111) * along(2, voxel[2], 16, 0x0001000100010001);
  }

 private:
  /// The cube at a coordinate, limited to a range.
  VOXHERD_FUNCTION static std::int32_t find_cube(float position, float first, float last) {
    return static_cast<std::int32_t>(lane::min(lane::max(lane::floor(4 * (position + 0.5f)), first), last));
  }

  /// The cubes of a voxel along one axis; `bits`: of all of them, `apart` bits from one to the next.
  VOXHERD_FUNCTION std::uint64_t along(int axis, std::int32_t voxel, int apart, std::uint64_t bits) const {
    const std::int32_t begin = 4 * voxel, first = first_[axis] < begin ? 0 : first_[axis] - begin,
                       last = last_[axis] > begin + 3 ? 3 : last_[axis] - begin;
    return ((std::uint64_t{2} << (apart * last)) - (std::uint64_t{1} << (apart * first))) & bits;
  }

  std::int32_t first_[3], last_[3];
};

VOXHERD_FUNCTION inline std::size_t voxel_number(const surface_view& surfaces, const std::int32_t (&voxel)[3]) {
  const auto n = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  return (n(voxel[2]) * n(surfaces.size[1]) + n(voxel[1])) * n(surfaces.size[0]) + n(voxel[0]);
}

/// Whether a line may meet a triangle.
VOXHERD_FUNCTION inline bool is_near(const surface_view& surfaces, const step_line& line) {
  const touched_cubes touched(surfaces, line);
  std::int32_t at[3];
  for (at[2] = touched.first_voxel(2); at[2] <= touched.last_voxel(2); ++at[2])
    for (at[1] = touched.first_voxel(1); at[1] <= touched.last_voxel(1); ++at[1])
      for (at[0] = touched.first_voxel(0); at[0] <= touched.last_voxel(0); ++at[0])
        if ((surfaces.cubes[voxel_number(surfaces, at)] & touched.of_voxel(at)) != 0) return true;
  return false;
}

/// The corner of a triangle that is nearest to where a line meets it; with the same rounding on every device.
VOXHERD_FUNCTION VOXHERD_RARE_CALL inline int find_nearest_corner(const surface_view& s, const surface_triangle& t,
                                                                  const step_line& line) {
  const float* corner[3];
  double weight[3], total = 0;  // of the corners, in the crossing
  for (int i = 0; i < 3; ++i) corner[i] = s.vertices + std::size_t{3} * t.corner[i];
  for (int i = 0; i < 3; ++i) {
    weight[i] = fabs(volume(line.from, line.to, corner[(i + 1) % 3], corner[(i + 2) % 3]));
    total += weight[i];
  }
  double square[3] = {};  // of the distances
  for (int d = 0; d < 3; ++d) {
    double at = 0;
    for (int i = 0; i < 3; ++i) at = fma(weight[i], static_cast<double>(corner[i][d]), at);
    at = total > 0 ? at / total : static_cast<double>(line.from[d]);  // a line in the plane starts at a corner
    for (int i = 0; i < 3; ++i) {
      const double mm = (at - static_cast<double>(corner[i][d])) * static_cast<double>(s.voxel_mm[d]);
      square[i] = fma(mm, mm, square[i]);
    }
  }
  const int first = square[1] < square[0] ? 1 : 0;
  return square[2] < square[first] ? 2 : first;
}

/// The triangles near a line, voxel after voxel.
class near_triangles {
 public:
  VOXHERD_FUNCTION near_triangles(const surface_view& surfaces, const step_line& line)
      : line_(line), touched_(surfaces, line) {
    for (int d = 0; d < 3; ++d) at_[d] = touched_.first_voxel(d);
    has_voxels_ =
        at_[0] <= touched_.last_voxel(0) && at_[1] <= touched_.last_voxel(1) && at_[2] <= touched_.last_voxel(2);
  }

  /// Goes to the next voxel in which triangles may be near. Returns false if there is none.
  VOXHERD_FUNCTION bool next_voxel(const surface_view& surfaces) {
    while (has_voxels_) {
      const std::size_t voxel = voxel_number(surfaces, at_);
      cubes_ = touched_.of_voxel(at_);
      advance();
      if ((surfaces.cubes[voxel] & cubes_) == 0) continue;
      begin_ = surfaces.cell_begin[voxel];
      end_ = surfaces.cell_begin[voxel + 1];
      return true;
    }
    return false;
  }

  /// The voxel's elements of surface_view::cell_triangles.
  VOXHERD_FUNCTION std::uint32_t begin() const { return begin_; }
  VOXHERD_FUNCTION std::uint32_t end() const { return end_; }

  /// Whether the line meets one of them, and which triangle it is.
  VOXHERD_FUNCTION bool meet(const surface_view& surfaces, std::uint32_t element, surface_triangle& found,
                             std::uint32_t& number) const {
    const near_triangle& near = surfaces.cell_triangles[element];
    if ((near.cubes & cubes_) == 0 || is_beside(near, surfaces.plane_reach)) return false;
    number = near.number;
    found = surfaces.triangles[number];
    return (surfaces.has_columns || surfaces.uses[found.surface].is_mask()) && meets(surfaces, found, line_);
  }

 private:
  /// Whether both ends are on one side of the plane, also with all rounding: true for most triangles of a voxel.
  VOXHERD_FUNCTION bool is_beside(const near_triangle& near, float reach) const {
    const float from = near.distance(line_.from), to = near.distance(line_.to);
    return (from > reach && to > reach) || (from < -reach && to < -reach);
  }

  VOXHERD_FUNCTION void advance() {
    int d = 0;
    for (; d < 3 && at_[d] == touched_.last_voxel(d); ++d) at_[d] = touched_.first_voxel(d);
    has_voxels_ = d < 3;
    if (has_voxels_) ++at_[d];
  }

  step_line line_;
  touched_cubes touched_;
  std::int32_t at_[3];
  std::uint64_t cubes_ = 0;
  std::uint32_t begin_ = 0, end_ = 0;
  bool has_voxels_ = false;
};

/// Goes through the triangles that a line meets. A triangle may come several times.
class surface_search {
 public:
  VOXHERD_FUNCTION surface_search(const surface_view& surfaces, const step_line& line) : near_(surfaces, line) {}

  /// The next triangle; false if there is none.
  VOXHERD_FUNCTION VOXHERD_RARE_CALL bool find_next(const surface_view& surfaces, surface_triangle& found,
                                                    std::uint32_t& number) {
    for (;;) {
      while (next_ < near_.end())
        if (near_.meet(surfaces, next_++, found, number)) return true;
      if (!near_.next_voxel(surfaces)) return false;
      next_ = near_.begin();
    }
  }

 private:
  near_triangles near_;
  std::uint32_t next_ = 0;
};

/// Triangles that touch each voxel of an image, as a surface_view has them.
struct triangle_cells {
  std::vector<std::uint64_t> cubes;
  std::vector<std::uint32_t> begin;
  std::vector<near_triangle> triangles;
};

/// More than the rounding of distances to a plane, in voxels: of 24 bits of coordinates up to 4096, and of the plane.
constexpr float plane_rounding = 0.004f;

/// `margin`: by so many voxels more than a triangle, so that no rounding hides it.
triangle_cells list_triangles(const std::int32_t (&size)[3], std::span<const float> vertices,
                              std::span<const surface_triangle> triangles, double margin);

}  // namespace voxherd::track
