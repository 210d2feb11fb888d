#include "tests/reference/geodesic_reference.hpp"

#include <algorithm>
#include <functional>

#include "tests/reference/jacobi_eigen.hpp"

namespace voxherd::reference {

using geodesic::integrator;
using geodesic::ray_form;

vec3 christoffel_acceleration(const mat3& D, const mat3_gradient& dG, const vec3& v) {
  vec3 a{};
  for (std::size_t g = 0; g < 3; ++g)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double symbol = 0;
        for (std::size_t s = 0; s < 3; ++s) symbol += 0.5 * D[g][s] * (dG[i][j][s] + dG[j][i][s] - dG[s][i][j]);
        a[g] -= symbol * v[i] * v[j];
      }
  return a;
}

vec3 momentum_rate(const mat3_gradient& dD, const vec3& p) {
  return {-0.5 * form(p, dD[0], p), -0.5 * form(p, dD[1], p), -0.5 * form(p, dD[2], p)};
}

vec3 main_axis(const mat3& D, const vec3& towards) {
  square_matrix m(3);
  for (std::size_t i = 0; i < 9; ++i) m.values[i] = D[i / 3][i % 3];
  const eigen_system e = jacobi_eigen(m);
  const vec3 axis{e.vectors(0, 0), e.vectors(1, 0), e.vectors(2, 0)};
  return dot(axis, towards) < 0 ? -1 * axis : axis;
}

namespace {

/// A place and what is carried along: velocity, momentum, or a streamline's last direction.
struct ray_state {
  vec3 x, q;
};

ray_state moved(const ray_state& s, double h, const ray_state& rate) { return {s.x + h * rate.x, s.q + h * rate.q}; }

/// Rate of `s` per mm with the field's values as given.
ray_state rate_of(ray_form f, const field_values& values, const ray_state& s) {
  if (f == ray_form::streamline) return {main_axis(values.D, s.q), {}};
  if (f == ray_form::hamiltonian) {
    const vec3 v = values.D * s.q;
    return {unit(v), 1 / norm(v) * momentum_rate(values.dD, s.q)};
  }
  return {unit(s.q), 1 / norm(s.q) * christoffel_acceleration(values.D, values.dG, s.q)};
}

ray_state stepped(const field_reader& field, const ray_state& s, const walk_settings& how) {
  const double h = how.step_mm;
  const auto rate = [&](const ray_state& at) { return rate_of(how.form, field.at(at.x), at); };
  const ray_state first = rate(s);
  switch (how.method) {
    case integrator::euler:
      return moved(s, h, first);
    case integrator::rk2_frozen:
      return moved(s, h, rate_of(how.form, field.at(s.x), moved(s, h / 2, first)));
    case integrator::rk2:
      return moved(s, h, rate(moved(s, h / 2, first)));
    case integrator::rk4:
      break;
  }
  const ray_state second = rate(moved(s, h / 2, first)), third = rate(moved(s, h / 2, second));
  const ray_state fourth = rate(moved(s, h, third));
  return moved(moved(moved(moved(s, h / 6, first), h / 3, second), h / 3, third), h / 6, fourth);
}

ray_point point_of(const field_reader& field, const ray_state& s, ray_form f) {
  const mat3 D = field.at(s.x).D, G = inverse(D);
  const vec3 u = f == ray_form::hamiltonian ? unit(D * s.q) : unit(s.q);
  const double energy = f == ray_form::hamiltonian   ? form(s.q, D, s.q)
                        : f == ray_form::christoffel ? form(s.q, G, s.q)
                                                     : 1;
  return {s.x, u, energy, std::sqrt(form(u, G, u))};
}

}  // namespace

std::vector<ray_point> walk(const field_reader& field, const vec3& x0, const vec3& u0, const walk_settings& how) {
  ray_state s{x0, unit(u0)};
  if (how.form == ray_form::hamiltonian) s.q = inverse(field.at(x0).D) * s.q;
  if (how.form == ray_form::streamline) s.q = main_axis(field.at(x0).D, s.q);
  std::vector<ray_point> ray{point_of(field, s, how.form)};
  for (std::size_t i = 0; i < how.steps; ++i) {
    s = stepped(field, s, how);
    if (how.form == ray_form::streamline) s.q = main_axis(field.at(s.x).D, s.q);
    ray.push_back(point_of(field, s, how.form));
  }
  return ray;
}

std::vector<voxel_index> voxels_crossed(const vec3& from, const vec3& to) {
  std::vector<double> cuts{0, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double a = from[axis], b = to[axis];
    for (double face = std::ceil(std::min(a, b) - 0.5) + 0.5; face < std::max(a, b); face += 1)
      if (face > std::min(a, b)) cuts.push_back((face - a) / (b - a));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<voxel_index> voxels;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const vec3 middle = from + (cuts[i - 1] + cuts[i]) / 2 * (to - from);
    const voxel_index v{std::lround(middle[0]), std::lround(middle[1]), std::lround(middle[2])};
    if (voxels.empty() || voxels.back() != v) voxels.push_back(v);
  }
  return voxels;
}

}  // namespace voxherd::reference
