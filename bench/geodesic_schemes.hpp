#pragma once

#include "kernels/geodesic/settings.hpp"

namespace voxherd::bench {

/// A geodesic scheme and its name in benchmarks.
struct geodesic_scheme {
  const char* name;
  geodesic::ray_form form;
  geodesic::interpolation reading;
  bool needs_gpu = false;
};

inline constexpr geodesic_scheme geodesic_schemes[] = {
    {"hamiltonian/trilinear", geodesic::ray_form::hamiltonian, geodesic::interpolation::trilinear},
    {"hamiltonian/bspline", geodesic::ray_form::hamiltonian, geodesic::interpolation::bspline},
    {"christoffel/trilinear", geodesic::ray_form::christoffel, geodesic::interpolation::trilinear},
    {"christoffel/texture", geodesic::ray_form::christoffel, geodesic::interpolation::texture, true},
    {"christoffel/bspline", geodesic::ray_form::christoffel, geodesic::interpolation::bspline},
};

struct geodesic_rule {
  const char* name;
  geodesic::integrator method;
};

inline constexpr geodesic_rule geodesic_rules[] = {{"euler", geodesic::integrator::euler},
                                                   {"rk2-frozen", geodesic::integrator::rk2_frozen},
                                                   {"rk2", geodesic::integrator::rk2},
                                                   {"rk4", geodesic::integrator::rk4}};

}  // namespace voxherd::bench
