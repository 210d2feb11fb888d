#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/chain.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/orientation.hpp"

namespace voxherd::voxel_model {

/// Three perpendicular unit vectors, right-handed.
template <class Number>
struct frame {
  Number axis[3][3];

  /// A gradient along the axes.
  template <class Real>
  VOXHERD_FUNCTION gradient<Real> components(const gradient<Real>& g) const {
    const auto along = [&](const Number(&a)[3]) { return g.x * Real(a[0]) + g.y * Real(a[1]) + g.z * Real(a[2]); };
    return {along(axis[0]), along(axis[1]), along(axis[2]), g.b_s_per_mm2};
  }
};

/// The frame whose last axis is along z, and whose first is as near to x as that allows.
VOXHERD_FUNCTION inline frame<double> make_frame(const double (&x)[3], const double (&z)[3]) {
  frame<double> f;
  const double inverse_z = 1 / std::sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
  for (int i = 0; i < 3; ++i) f.axis[2][i] = z[i] * inverse_z;
  const double(&unit_z)[3] = f.axis[2];
  const double along = x[0] * unit_z[0] + x[1] * unit_z[1] + x[2] * unit_z[2];
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    f.axis[0][i] = x[i] - along * unit_z[i];
    square += f.axis[0][i] * f.axis[0][i];
  }
  for (int i = 0; i < 3; ++i) f.axis[0][i] /= std::sqrt(square);
  for (int i = 0; i < 3; ++i)
    f.axis[1][i] = unit_z[(i + 1) % 3] * f.axis[0][(i + 2) % 3] - unit_z[(i + 2) % 3] * f.axis[0][(i + 1) % 3];
  return f;
}

/// `f` turned about its axes by `turn`, which becomes the turns that were taken.
VOXHERD_FUNCTION inline frame<double> turned(const frame<double>& f, double* turn) {
  const double length = std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  if (length > max_turn)
    for (int i = 0; i < 3; ++i) turn[i] *= max_turn / length;
  double x[3], z[3];
  for (int i = 0; i < 3; ++i) {
    x[i] = f.axis[0][i] - turn[1] * f.axis[2][i] + turn[2] * f.axis[1][i];
    z[i] = f.axis[2][i] - turn[0] * f.axis[1][i] + turn[1] * f.axis[0][i];
  }
  return make_frame(x, z);
}

/// Derivatives by small turns about the axes, from those by a gradient's components.
template <class Real>
VOXHERD_FUNCTION inline void differentiate_turns(const gradient<Real>& g, const Real (&by)[3], Real* by_turn) {
  by_turn[0] = by[1] * g.z - by[2] * g.y;
  by_turn[1] = by[2] * g.x - by[0] * g.z;
  by_turn[2] = by[0] * g.y - by[1] * g.x;
}

/// A frame in a chain: polar angle and azimuth of its last axis, and the angle of its first axis about that, from the
/// direction in which the azimuth grows, as in cuDIMOT. Uniform over rotations: p(th) ~ |sin th|.
struct frame_angles {
  polar_direction last;
  float psi, sin_psi, cos_psi;

  VOXHERD_FUNCTION void set(int i, float angle) {
    if (i == 0) last.set_th(angle);
    if (i == 1) last.set_ph(angle);
    if (i != 2) return;
    psi = polar_direction::wrapped(angle);
    lane::sincos(psi, sin_psi, cos_psi);
  }
  VOXHERD_FUNCTION float operator[](int i) const { return i == 0 ? last.th : i == 1 ? last.ph : psi; }

  VOXHERD_FUNCTION frame<float> axes() const {
    const float s = last.sin_th, c = last.cos_th;
    const float by_th[3] = {c * last.cos_ph, c * last.sin_ph, -s}, by_ph[3] = {-last.sin_ph, last.cos_ph, 0};
    frame<float> f{{{}, {}, {s * last.cos_ph, s * last.sin_ph, c}}};
    VOXHERD_UNROLL
    for (int i = 0; i < 3; ++i) {
      f.axis[0][i] = cos_psi * by_ph[i] - sin_psi * by_th[i];
      f.axis[1][i] = -cos_psi * by_th[i] - sin_psi * by_ph[i];
    }
    return f;
  }
};

/// What a directional model prepares for a point; nothing for others.
template <class Model, class Number, bool Slopes>
struct state_of {
  struct type {};
};
template <directional Model, class Number, bool Slopes>
struct state_of<Model, Number, Slopes> {
  using type = typename Model::template state<Number, Slopes>;
};

/// The signal divided by S0, and its derivatives by the parameters and by turns of the frame. `state`: of these
/// parameters.
template <class Real, class Model, class Number, class State>
VOXHERD_FUNCTION inline Real attenuation_in(const frame<Number>& f, const State& state, const Model& model,
                                            const gradient<Real>& g, const measurement_table<Model, Real>& table,
                                            const Number (&p)[parameter_count<Model>],
                                            Real (&by)[parameter_count<Model> + turn_count<Model>]) {
  if constexpr (directional<Model>) {
    constexpr int n = parameter_count<Model>;
    const gradient<Real> own = f.components(g);
    Real by_parameter[n], by_component[3];
    Real relative;
    if constexpr (tabulated<Model>)
      relative = model.attenuation(own, table.number, p, state, by_parameter, by_component);
    else
      relative = model.attenuation(own, p, state, by_parameter, by_component);
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) by[i] = by_parameter[i];
    Real by_turn[3];
    differentiate_turns(own, by_component, by_turn);
    VOXHERD_UNROLL
    for (int i = 0; i < turn_count<Model>; ++i) by[n + i] = by_turn[i];
    return relative;
  } else if constexpr (tabulated<Model>) {
    return model.attenuation(g, table.number, p, by);
  } else {
    return model.attenuation(g, p, by);
  }
}

/// The angles of a frame.
VOXHERD_FUNCTION inline void find_angles(const frame<double>& f, float* angles) {
  const double(&z)[3] = f.axis[2];
  const double th = std::acos(z[2] > 1 ? 1 : z[2] < -1 ? -1 : z[2]), ph = std::atan2(z[1], z[0]);
  const double c = std::cos(ph), s = std::sin(ph);
  const double by_th = (f.axis[0][0] * c + f.axis[0][1] * s) * std::cos(th) - f.axis[0][2] * std::sin(th);
  const double by_ph = f.axis[0][1] * c - f.axis[0][0] * s;
  angles[0] = static_cast<float>(th), angles[1] = static_cast<float>(ph);
  angles[2] = static_cast<float>(std::atan2(-by_th, by_ph));
}

}  // namespace voxherd::voxel_model
