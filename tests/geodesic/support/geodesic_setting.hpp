#pragma once

#include <ostream>

#include "tests/geodesic/reference/geodesic_case.hpp"
#include "tests/geodesic/reference/geodesic_fields.hpp"

/// A field, grids and a choice of schemes that several tests share.
namespace voxherd::reference {

inline const pullback_field pullback;
inline const sampling_grid cube{{64, 64, 64}, identity3, {}};
inline const sampling_grid oblique{
    {40, 36, 30}, {{{1.5, 0.2, 0.1}, {-0.25, 1.7, 0}, {0.05, 0.1, 2.1}}}, {-12, 5, 8}};  ///< 1.5 x 1.7 x 2.1 mm

struct ray_scheme {
  geodesic::ray_form form;
  geodesic::interpolation reading;
  geodesic::integrator method;
};

/// Numbers as in settings.hpp, for the names of tests.
inline void PrintTo(const ray_scheme& s, std::ostream* out) {
  *out << "form " << int(s.form) << ", reading " << int(s.reading) << ", integrator " << int(s.method);
}

}  // namespace voxherd::reference
