#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"

namespace voxherd::voxel_model {

/// A fibre's unit vector, which has no poles, and two tangents that it turns along.
struct orientation {
  double along[3], u[3], v[3];
};

/// The axis along (x, y, z); tangents by Duff et al., JCGT 6(1), 2017.
VOXHERD_FUNCTION inline orientation oriented(double x, double y, double z) {
  const double inverse = 1 / std::sqrt(x * x + y * y + z * z);
  x *= inverse;
  y *= inverse;
  z *= inverse;
  const double sign = z < 0 ? -1.0 : 1.0, a = -1 / (sign + z), b = x * y * a;
  return {{x, y, z}, {1 + sign * x * x * a, sign * b, -sign * x}, {b, sign + y * y * a, -y}};
}

/// Tangent of an axis's largest rotation in one step: the linear model hardly limits the angles of a weak fibre.
constexpr double max_turn = 0.5;

/// `o` turned along its tangents by `turn_u` and `turn_v`, which become the turns that were taken.
VOXHERD_FUNCTION inline orientation turned(const orientation& o, double& turn_u, double& turn_v) {
  const double turn = std::sqrt(turn_u * turn_u + turn_v * turn_v);
  const double part = turn > max_turn ? max_turn / turn : 1;
  turn_u *= part;
  turn_v *= part;
  return oriented(o.along[0] + turn_u * o.u[0] + turn_v * o.v[0], o.along[1] + turn_u * o.u[1] + turn_v * o.v[1],
                  o.along[2] + turn_u * o.u[2] + turn_v * o.v[2]);
}

}  // namespace voxherd::voxel_model
