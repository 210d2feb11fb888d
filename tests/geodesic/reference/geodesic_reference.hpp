#pragma once

#include <array>
#include <vector>

#include "kernels/geodesic/settings.hpp"
#include "tests/geodesic/reference/geodesic_reading.hpp"

namespace voxherd::reference {

/// Acceleration of a geodesic of velocity v (van Aart 2011, equation 2), from the Christoffel symbols of the second
/// kind, all 27 of them.
vec3 christoffel_acceleration(const mat3& D, const mat3_gradient& dG, const vec3& v);

/// Rate of the momentum p = G v: -1/2 p (dD/dx_k) p.
vec3 momentum_rate(const mat3_gradient& dD, const vec3& p);

/// Unit eigenvector of the largest eigenvalue, on the side of `towards`.
vec3 main_axis(const mat3& D, const vec3& towards);

/// A ray after some steps.
struct ray_point {
  vec3 place;            ///< world mm
  vec3 direction;        ///< unit
  double energy;         ///< v G v, or p D p: 1 at the start; of a streamline 1 / (u D u)
  double length_mm;      ///< sum of the chords of the steps
  double metric_length;  ///< sum of root of energy times dt: of a geodesic its parameter
  double drift;          ///< |energy over its first value - 1|; 0 for streamlines
};

struct walk_settings {
  geodesic::ray_form form = geodesic::ray_form::hamiltonian;
  geodesic::integrator method = geodesic::integrator::rk2;
  double step_mm = 0.1;
  std::size_t steps = 0;
};

/// The state at the start of a step: a position and a velocity, a momentum, or a streamline's previous direction.
struct ray_state {
  vec3 x, q;
};

/// One step: geodesics follow (x, v)' = (v, a), or (x, p)' = (D p, p'), for the time dt in which the velocity at the
/// step's start covers step_mm.
class stepper {
 public:
  stepper(const field_reader& field, const walk_settings& how) : field_(field), how_(how) {}
  ray_state start(const vec3& x0, const vec3& u0) const;  ///< u0 of any length but zero
  ray_state step(ray_state& s) const;                     ///< turns a streamline's q to its axis here
  double energy(const ray_state& s) const;
  double dt(const ray_state& s) const;
  vec3 direction(const ray_state& s) const;

 private:
  ray_state rate(const field_values& values, const ray_state& s) const;
  ray_state rate_at(const ray_state& s) const { return rate(field_.at(s.x), s); }

  const field_reader& field_;
  walk_settings how_;
};

/// The steps + 1 positions of the ray from x0 along u0.
std::vector<ray_point> walk(const field_reader& field, const vec3& x0, const vec3& u0, const walk_settings& how);

using voxel_index = std::array<long, 3>;

/// Voxels that the segment between two places (index coordinates, voxel centres at integers) goes through, in order,
/// the first place's own included: every crossing of a face cuts the segment, and each piece's middle names a voxel.
std::vector<voxel_index> voxels_crossed(const vec3& from, const vec3& to);

}  // namespace voxherd::reference
