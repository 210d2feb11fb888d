#include "tests/geodesic/reference/geodesic_reference.hpp"

#include <algorithm>

#include "tests/portable/reference/jacobi_eigen.hpp"

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

ray_state moved(const ray_state& s, double h, const ray_state& rate) { return {s.x + h * rate.x, s.q + h * rate.q}; }

}  // namespace

ray_state stepper::start(const vec3& x0, const vec3& u0) const {
  const mat3 D = field_.at(x0).D, G = inverse(D);
  const vec3 u = unit(u0), v = 1 / std::sqrt(form(u, G, u)) * u;
  if (how_.form == ray_form::streamline) return {x0, main_axis(D, u)};
  return {x0, how_.form == ray_form::hamiltonian ? G * v : v};
}

ray_state stepper::rate(const field_values& values, const ray_state& s) const {
  if (how_.form == ray_form::streamline) return {main_axis(values.D, s.q), {}};
  if (how_.form == ray_form::hamiltonian) return {values.D * s.q, momentum_rate(values.dD, s.q)};
  return {s.q, christoffel_acceleration(values.D, values.dG, s.q)};
}

double stepper::dt(const ray_state& s) const { return how_.step_mm / norm(rate_at(s).x); }

vec3 stepper::direction(const ray_state& s) const { return unit(rate_at(s).x); }

double stepper::energy(const ray_state& s) const {
  const mat3 D = field_.at(s.x).D;
  if (how_.form == ray_form::hamiltonian) return form(s.q, D, s.q);
  if (how_.form == ray_form::christoffel) return form(s.q, inverse(D), s.q);
  const vec3 u = main_axis(D, s.q);
  return 1 / form(u, D, u);
}

ray_state stepper::step(ray_state& s) const {
  if (how_.form == ray_form::streamline) s.q = main_axis(field_.at(s.x).D, s.q);
  const double h = dt(s);
  const ray_state first = rate_at(s);
  switch (how_.method) {
    case integrator::euler:
      return moved(s, h, first);
    case integrator::rk2_frozen:
      return moved(s, h, rate(field_.at(s.x), moved(s, h / 2, first)));
    case integrator::rk2:
      return moved(s, h, rate_at(moved(s, h / 2, first)));
    case integrator::rk4:
      break;
  }
  const ray_state second = rate_at(moved(s, h / 2, first)), third = rate_at(moved(s, h / 2, second));
  const ray_state fourth = rate_at(moved(s, h, third));
  return moved(moved(moved(moved(s, h / 6, first), h / 3, second), h / 3, third), h / 6, fourth);
}

std::vector<ray_point> walk(const field_reader& field, const vec3& x0, const vec3& u0, const walk_settings& how) {
  const stepper ray(field, how);
  ray_state s = ray.start(x0, u0);
  std::vector<ray_point> points;
  double length_mm = 0, metric_length = 0;
  for (std::size_t i = 0; i <= how.steps; ++i) {
    const double energy = ray.energy(s);
    const bool geodesic = how.form != ray_form::streamline;
    const double drift = geodesic && i > 0 ? std::abs(energy / points[0].energy - 1) : 0;
    points.push_back({s.x, ray.direction(s), energy, length_mm, metric_length, drift});
    const double dt = ray.dt(s);
    const ray_state next = ray.step(s);
    length_mm += norm(next.x - s.x);
    metric_length += std::sqrt(energy) * dt;
    s = next;
  }
  return points;
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
