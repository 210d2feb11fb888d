#pragma once

#include <cmath>
#include "tests/geodesic/reference/geodesic_case.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

/// Errors of rays in fields whose geodesics are known, sampled at 64^3 points 1 mm apart.
namespace voxherd::reference {

struct scheme {
  const char* name;
  geodesic::ray_form form;
  geodesic::interpolation reading;
};
inline constexpr scheme schemes[] = {
    {"christoffel trilinear", geodesic::ray_form::christoffel, geodesic::interpolation::trilinear},
    {"christoffel bspline", geodesic::ray_form::christoffel, geodesic::interpolation::bspline},
    {"hamiltonian trilinear", geodesic::ray_form::hamiltonian, geodesic::interpolation::trilinear},
    {"hamiltonian bspline", geodesic::ray_form::hamiltonian, geodesic::interpolation::bspline},
};

/// Rays in a known field, with their lengths (mm). The seeds and directions of the prototype behind the published
/// numbers are not known: here rays start in the middle 20 voxels of each axis, and their directions are uniform in the
/// metric, that is v = D^(1/2) n with n uniform on the sphere.
struct accuracy_case {
  const char* name;
  const solved_field& field;
  sampling_grid grid;
  std::vector<ray_start> starts;
  std::vector<double> length_mm;

  std::uint32_t steps(std::size_t ray, double step_mm) const {
    return static_cast<std::uint32_t>(std::lround(length_mm[ray] / step_mm));
  }
};

inline std::vector<ray_start> starts_in_metric(const tensor_formula& field, const sampling_grid& grid,
                                               std::size_t count) {
  auto starts = random_starts(count, {22, 22, 22}, {42, 42, 42}, 1);
  for (auto& [voxel, u] : starts) {
    const mat3 D = field.D(grid.world(voxel));
    square_matrix m(3);
    for (std::size_t i = 0; i < 9; ++i) m.values[i] = D[i / 3][i % 3];
    const auto e = jacobi_eigen(m);
    vec3 v{};
    for (std::size_t k = 0; k < 3; ++k)
      v = v + std::sqrt(e.values[k]) * u[k] * vec3{e.vectors(0, k), e.vectors(1, k), e.vectors(2, k)};
    u = rounded_unit(v);
  }
  return starts;
}

/// Lengths of 20 in the metric.
inline accuracy_case pullback_case(std::size_t rays) {
  static const pullback_field field;
  accuracy_case c{"pullback", field, {{64, 64, 64}, identity3, {}}, {}, {}};
  c.starts = starts_in_metric(field, c.grid, rays);
  for (const auto& [voxel, u] : c.starts)
    c.length_mm.push_back(field.length_of_metric_length(c.grid.world(voxel), u, 20));
  return c;
}

/// Lengths of 20 mm: 20 in the metric would leave the grid.
inline accuracy_case half_space_case(std::size_t rays) {
  static const hyperbolic_field field(32);
  accuracy_case c{"half space", field, {{64, 64, 64}, identity3, {0, 0, 16}}, {}, std::vector<double>(rays, 20)};
  c.starts = starts_in_metric(field, c.grid, rays);
  return c;
}

struct accuracy {
  double median_error, p95_error, median_drift, p95_drift;  ///< errors in mm, of the ends
  double steps = 0;                                         ///< of all rays together
  double median_miss = 0, p95_miss = 0;                     ///< of the tracker: of the ends from the curve, in mm
};

inline accuracy summary_of(const std::vector<double>& error, const std::vector<double>& drift, double steps) {
  return {percentile(error, 0.5), percentile(error, 0.95), percentile(drift, 0.5), percentile(drift, 0.95), steps};
}

/// The tracker's errors, each ray with its own number of steps. A ray that ends early has infinite drift. The miss
/// excludes the component along the curve: a length summed from chords is shorter than the arc, by 4e-5 of it for steps
/// of 1 on radii of 30.
inline accuracy measure_accuracy(const device& d, const accuracy_case& c, const tensor_field::field& prepared,
                                 const geodesic::ray_settings& settings) {
  std::vector<double> error, drift, miss;
  double all_steps = 0;
  use_device(d);
  for (std::size_t i = 0; i < c.starts.size(); ++i) {
    auto one = settings;
    one.max_steps = c.steps(i, double(settings.step_mm));
    const auto rays = geodesic::make_tracker(prepared, make_seeds({c.starts[i]}), one);
    score_table score(1);
    rays->score(0, 1, score.view());
    const std::uint64_t fibre = 0, offsets[] = {0, 2};
    std::vector<float> position(6);
    rays->trace({&fibre, 1}, score.steps.data(), offsets, {position.data(), nullptr, nullptr});
    const auto exact = [&](double beyond) {
      return c.field.end(c.grid.world(c.starts[i].voxel), c.starts[i].u, double(score.length_mm[0]) + beyond);
    };
    const vec3 off = as_places(position)[1] - exact(0), along = unit(exact(1e-3) - exact(-1e-3));
    error.push_back(norm(off));
    miss.push_back(norm(off - dot(off, along) * along));
    drift.push_back(score.steps[0] == one.max_steps ? double(score.drift[0]) : INFINITY);
    all_steps += score.steps[0];
  }
  accuracy a = summary_of(error, drift, all_steps);
  a.median_miss = percentile(miss, 0.5);
  a.p95_miss = percentile(miss, 0.95);
  return a;
}

/// The double reference's errors, with the same steps.
inline accuracy accuracy_of_reference(const accuracy_case& c, const field_reader& reader,
                                      const geodesic::ray_settings& settings) {
  std::vector<double> error, drift;
  double all_steps = 0;
  for (std::size_t i = 0; i < c.starts.size(); ++i) {
    const vec3 x0 = c.grid.world(c.starts[i].voxel), u = c.starts[i].u;
    const auto steps = c.steps(i, double(settings.step_mm));
    const auto ray = walk(reader, x0, u, {settings.form, settings.method, double(settings.step_mm), steps});
    error.push_back(norm(ray.back().place - c.field.end(x0, u, ray.back().length_mm)));
    double largest = 0;
    for (std::size_t k = 0; k + 1 < ray.size(); ++k) largest = std::max(largest, ray[k].drift);
    drift.push_back(largest);
    all_steps += steps;
  }
  return summary_of(error, drift, all_steps);
}

}  // namespace voxherd::reference
