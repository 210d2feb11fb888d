#include "kernels/geodesic/trace_job.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace voxherd::geodesic {

namespace {

step_rule runge_kutta_step(integrator method) {
  switch (method) {
    case integrator::euler:
      return {1, {0}, {1}, false};
    case integrator::rk2_frozen:
      return {2, {0, 0.5f}, {0, 1}, true};
    case integrator::rk2:
      return {2, {0, 0.5f}, {0, 1}, false};
    case integrator::rk4:
      break;
  }
  return {4, {0, 0.5f, 0.5f, 1}, {1.0f / 6, 1.0f / 3, 1.0f / 3, 1.0f / 6}, false};
}

std::uint32_t steps_within(const ray_settings& s) {
  if (!(s.max_length_mm > 0)) return s.max_steps;
  const double of_a_ray = s.max_length_mm / (s.two_way ? 2.0 : 1.0) / s.step_mm;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::min<double>(s.max_steps, of_a_ray + 1e-3)));
}

}  // namespace

field_kind field_for(ray_form form) {
  switch (form) {
    case ray_form::christoffel:
      return field_kind::christoffel;
    case ray_form::finsler4:
      return field_kind::quartic;
    case ray_form::streamline:
      return field_kind::world;
    case ray_form::hamiltonian:
      break;
  }
  return field_kind::tensor;
}

trace_job begin_job(const field& f, const ray_settings& settings) {
  if (f.kind != field_for(settings.form))
    throw std::invalid_argument("geodesic: the field was prepared for another form");
  if (f.spline != (settings.reading == interpolation::bspline))
    throw std::invalid_argument("geodesic: the field was prepared for another interpolation");
  trace_job job{};
  job.field = f.view();
  job.rays = settings;
  job.rays.max_steps = steps_within(settings);
  job.rule = runge_kutta_step(settings.method);
  job.unit_length = static_cast<float>(std::sqrt(f.scale));
  return job;
}

std::size_t device_bytes_per_fibre() { return 4 * sizeof(std::uint8_t) + 10 * sizeof(float) + sizeof(float); }

std::unique_ptr<tracker> make_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings) {
  return f.where.kind == backend::cuda ? make_tracker_cuda(f, seeds, settings) : make_tracker_cpu(f, seeds, settings);
}

}  // namespace voxherd::geodesic
