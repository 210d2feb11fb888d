#pragma once

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

}  // namespace voxherd::geodesic
