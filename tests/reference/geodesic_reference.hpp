#pragma once

#include <array>
#include <vector>

#include "kernels/geodesic/settings.hpp"
#include "tests/reference/geodesic_reading.hpp"

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
  vec3 place;           ///< world mm
  vec3 direction;       ///< unit
  double energy;        ///< v G v, or p D p; 1 at the start of a streamline and after
  double metric_speed;  ///< metric length per mm: sqrt(u G u)
};

struct walk_settings {
  geodesic::ray_form form = geodesic::ray_form::hamiltonian;
  geodesic::integrator method = geodesic::integrator::rk2;
  double step_mm = 0.1;
  std::size_t steps = 0;
};

/// steps + 1 places of the ray from x0 along u0 (any length but zero). The parameter is the Euclidean length: geodesics
/// follow (x, v)' = (v, a) / |v|, or (x, p)' = (D p, p') / |D p|; v has unit length at the start.
std::vector<ray_point> walk(const field_reader& field, const vec3& x0, const vec3& u0, const walk_settings& how);

using voxel_index = std::array<long, 3>;

/// Voxels that the segment between two places (index coordinates, voxel centres at integers) goes through, in order,
/// the first place's own included: every crossing of a face cuts the segment, and each piece's middle names a voxel.
std::vector<voxel_index> voxels_crossed(const vec3& from, const vec3& to);

}  // namespace voxherd::reference
