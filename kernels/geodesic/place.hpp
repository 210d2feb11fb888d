#pragma once

#include <cmath>

#include "kernels/portable/contract.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

namespace voxherd::geodesic {

using namespace tensor_field;

/// A point in index coordinates as an integer and a remainder in [0, 1): a single float would lose 1e-4 voxel over
/// thousands of steps in a large image.
template <class Number>
struct place {
  Number cell[3];
  Number rest[3];
};

/// Returns `from` displaced by `voxels` in index coordinates.
template <class Number>
VOXHERD_FUNCTION inline place<Number> moved(const place<Number>& from, const Number (&voxels)[3]) {
  place<Number> to;
  for (int i = 0; i < 3; ++i) {
    const Number rest = from.rest[i] + voxels[i], carry = lane::floor(rest);
    to.cell[i] = from.cell[i] + carry;
    to.rest[i] = rest - carry;
  }
  return to;
}

/// The voxel that contains the point.
template <class Number>
VOXHERD_FUNCTION inline Number nearest(const place<Number>& p, int axis) {
  return p.cell[axis] + lane::select(p.rest[axis] >= 0.5f, Number(1.0f), Number(0.0f));
}

/// The cell [first, first + 1] to interpolate in and the position within it. The cell is inside the image for every
/// point; `within` is outside [0, 1] for points outside.
template <class Number>
VOXHERD_FUNCTION inline void cell_at(const place<Number>& p, int axis, int size, Number& first, Number& within) {
  const auto last = static_cast<float>(size > 1 ? size - 2 : 0);
  first = lane::max(Number(0.0f), lane::min(p.cell[axis], Number(last)));
  within = p.rest[axis] + (p.cell[axis] - first);
}

/// Distance (voxels) from the face to the end of a fibre that is cut there. Rounding to float32 millimetres then leaves
/// the end in the region's voxel, so that every program that reads it finds the same region.
inline constexpr float end_inside_face = 5e-5f;

/// One lane's point relative to the centre of a voxel.
template <class Number>
VOXHERD_FUNCTION inline void from_centre(const place<Number>& p, const int (&voxel)[3], int lane, float (&offset)[3]) {
  for (int a = 0; a < 3; ++a) offset[a] = (get(p.cell[a], lane) - static_cast<float>(voxel[a])) + get(p.rest[a], lane);
}

/// Where the straight segment from `from` to `to` enters a cube that it starts outside of: part of its length. Points
/// are relative to the cube's centre; `half`: half of its side.
VOXHERD_FUNCTION inline float entry_into_cube(const float (&from)[3], const float (&to)[3], float half) {
  float part = 0;
  for (int a = 0; a < 3; ++a) {
    if (from[a] >= -half && from[a] <= half) continue;
    const float crossing = ((from[a] < 0 ? -half : half) - from[a]) / (to[a] - from[a]);
    part = crossing > part ? crossing : part;
  }
  return part;
}

VOXHERD_FUNCTION inline bool is_in_voxel(const float (&from)[3], const float (&to)[3], float part) {
  bool inside = part <= 1;
  for (int a = 0; a < 3; ++a) inside = inside && std::fabs(from[a] + part * (to[a] - from[a])) <= 0.5f;
  return inside;
}

/// Moves one lane of `to` to where the segment from `from` enters the voxel, end_inside_face behind the face. Returns
/// the part of the segment that is left.
template <class Number>
VOXHERD_FUNCTION inline float cut_at_face(const place<Number>& from, const int (&voxel)[3], int lane,
                                          place<Number>& to) {
  constexpr float reach = 0.5f - end_inside_face;
  float begin[3], end[3];
  from_centre(from, voxel, lane, begin);
  from_centre(to, voxel, lane, end);
  float part = entry_into_cube(begin, end, reach);
  // A segment that only touches the voxel's outer layer is cut at the voxel itself and moved into it sideways.
  if (!is_in_voxel(begin, end, part)) part = entry_into_cube(begin, end, 0.5f);
  part = part < 1 ? part : 1.0f;
  for (int a = 0; a < 3; ++a) {
    const float centre = static_cast<float>(voxel[a]);
    float offset = begin[a] + part * (end[a] - begin[a]);
    offset = offset < -reach ? -reach : offset > reach ? reach : offset;
    put(to.cell[a], lane, offset < 0 ? centre - 1 : centre);
    put(to.rest[a], lane, offset < 0 ? offset + 1 : offset);
  }
  return part;
}

}  // namespace voxherd::geodesic
