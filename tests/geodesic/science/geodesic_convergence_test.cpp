#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "tests/geodesic/reference/geodesic_accuracy.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;

/// Smooth and strongly curved: rays are circles with radii of 12 to 30 voxels.
const fish_eye_field eye(18, 1, {40, 40, 40});
const sampling_grid large_cube{{80, 80, 80}, identity3, {}};

/// Position after a metric length of the ray of the stored field, integrated in double with fourth-order steps of 0.1
/// mm; the last step is shortened.
vec3 fine_solution(const field_reader& field, const ray_start& start, ray_form form, double metric_length) {
  const walk_settings fine{form, integrator::rk4, 0.1, 0};
  const stepper steps(field, fine);
  ray_state s = steps.start(start.voxel, start.u);
  double done = 0;
  while (true) {
    const double energy = std::sqrt(steps.energy(s)), dt = steps.dt(s);
    if (done + energy * dt < metric_length) {
      s = steps.step(s), done += energy * dt;
      continue;
    }
    auto cut = fine;
    cut.step_mm *= (metric_length - done) / (energy * dt);
    return stepper(field, cut).step(s).x;
  }
}

/// Distance of a point to a path, with parabolas between the path's points.
double distance_to(const std::vector<ray_point>& path, const vec3& place) {
  std::size_t near = 1;
  for (std::size_t i = 1; i + 1 < path.size(); ++i)
    if (norm(path[i].place - place) < norm(path[near].place - place)) near = i;
  double least = INFINITY;
  for (int t = -50; t <= 50; ++t) {
    const double a = t / 50.0;
    const vec3 x = (a * (a - 1) / 2) * path[near - 1].place + (1 - a * a) * path[near].place +
                   (a * (a + 1) / 2) * path[near + 1].place;
    const vec3 off = place - x, u = path[near].direction;
    least = std::min(least, norm(off - dot(off, u) * u) + (std::abs(dot(off, u)) > 0.01 ? 1 : 0));
  }
  return least;
}

struct convergence {
  ray_form form;
  integrator method;
  double order, coarsest_mm;
};

class GeodesicConvergence : public testing::TestWithParam<convergence> {};

/// Halving the step divides the error by 2^order. B-splines are smooth enough for fourth order; rounding limits it at
/// 1e-5 voxel, below the errors of the coarse steps. Christoffel rays are compared by their distance from the path:
/// their energy is not quite constant, so that the metric length is a sum of first order only.
TEST_P(GeodesicConvergence, HalvingTheStepGivesTheOrder) {
  const auto& [form, method, order, coarsest_mm] = GetParam();
  const auto image = sampled(eye, large_cube);
  const auto starts = random_starts(24, {30, 30, 30}, {50, 50, 50}, 15);
  std::vector<double> errors;
  for (const double step_mm : {coarsest_mm, coarsest_mm / 2, coarsest_mm / 4}) {
    tracking_case test(two_threads, image, starts,
                       rays_along_axes(form, interpolation::bspline, method, step_mm,
                                       static_cast<std::uint32_t>(std::lround(16 / step_mm))));
    const sampled_reader stored(test.field());
    const score_table scores = test.score();
    const auto ends = test.ends(scores);
    double sum = 0;
    for (std::size_t f = 0; f < starts.size(); ++f)
      sum += form == ray_form::hamiltonian
                 ? norm(ends[f] - fine_solution(stored, starts[f], form, double(scores.metric_length[f])))
                 : distance_to(walk(stored, starts[f].voxel, starts[f].u, {form, integrator::rk4, 0.1, 260}), ends[f]);
    errors.push_back(sum / double(starts.size()));
    std::printf(
        "form %d, integrator %d, step %.4f mm: error %.3e mm%s\n", int(form), int(method), step_mm, errors.back(),
        errors.size() > 1 ? (", ratio " + std::to_string(errors[errors.size() - 2] / errors.back())).c_str() : "");
  }
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const double slope = std::log2(errors[i - 1] / errors[i]);
    EXPECT_GT(slope, order - 0.3) << i;
    EXPECT_LT(slope, order + 0.7) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, GeodesicConvergence,
                         testing::Values(convergence{ray_form::hamiltonian, integrator::euler, 1, 0.5},
                                         convergence{ray_form::hamiltonian, integrator::rk2_frozen, 1, 0.5},
                                         convergence{ray_form::hamiltonian, integrator::rk2, 2, 2},
                                         convergence{ray_form::hamiltonian, integrator::rk4, 4, 8},
                                         convergence{ray_form::christoffel, integrator::euler, 1, 0.5},
                                         convergence{ray_form::christoffel, integrator::rk2_frozen, 1, 0.5},
                                         convergence{ray_form::christoffel, integrator::rk2, 2, 2},
                                         convergence{ray_form::christoffel, integrator::rk4, 4, 8}));

/// A ray started in reverse where another one ended returns to within O(h^2) of the other's start.
TEST(GeodesicReversibility, RaysReturnToTheirStart) {
  const auto image = sampled(eye, large_cube);
  const auto starts = random_starts(100, {30, 30, 30}, {50, 50, 50}, 16);
  std::vector<double> medians;
  for (const double step_mm : {2.0, 1.0, 0.5}) {
    const auto steps = static_cast<std::uint32_t>(std::lround(16 / step_mm));
    auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, step_mm, steps);
    tracking_case forth(two_threads, image, starts, settings);
    const sampled_reader stored(forth.field());
    const auto ends = forth.ends(forth.score());
    std::vector<ray_start> turned;
    for (std::size_t f = 0; f < starts.size(); ++f) {
      // The tracker gives no directions; the reference's ray is the same to rounding.
      const auto ray = walk(stored, starts[f].voxel, starts[f].u, {settings.form, settings.method, step_mm, steps});
      ASSERT_LT(norm(ray.back().place - ends[f]), 1e-4);
      turned.push_back({ends[f], rounded_unit(-1 * ray.back().direction)});
    }
    // The parameters of steps differ slightly on the return: two more steps, and the nearest position on the circle
    // through the three points around the closest one.
    settings.max_steps += 2;
    tracking_case back(two_threads, image, turned, settings);
    const auto points = back.points(back.score(), steps + 3);
    std::vector<double> missed;
    for (std::size_t f = 0; f < starts.size(); ++f) {
      const vec3* ray = &points[(steps + 3) * f];
      double least = 1e9;
      for (std::uint32_t i = 1; i + 1 < steps + 3; ++i)
        for (int t = -50; t <= 50; ++t) {
          // Parabola through three neighbours: off the curve by O(h^3).
          const double a = t / 100.0;
          const vec3 x = (a * (a - 1) / 2) * ray[i - 1] + (1 - a * a) * ray[i] + (a * (a + 1) / 2) * ray[i + 1];
          const vec3 off = x - starts[f].voxel, along = unit(ray[i + 1] - ray[i - 1]);
          least = std::min(least, norm(off - dot(off, along) * along) + (std::abs(dot(off, along)) > step_mm ? 1 : 0));
        }
      missed.push_back(least);
    }
    medians.push_back(percentile(missed, 0.5));
    std::printf("there and back in steps of %.2f mm: %.2e mm\n", step_mm, medians.back());
  }
  EXPECT_LT(medians[1], medians[0] / 3.5);
  EXPECT_LT(medians[2], medians[1] / 3.5);
  EXPECT_LT(medians[2], 1e-3);
}

/// Two rays in opposite directions are one geodesic: each half is what a one-way fibre gives.
TEST(GeodesicReversibility, TwoWayFibresAreTwoOneWayOnes) {
  const auto image = sampled(eye, large_cube);
  const auto starts = random_starts(40, {30, 30, 30}, {50, 50, 50}, 17);
  std::vector<ray_start> opposite;
  for (const auto& [voxel, u] : starts) opposite.push_back({voxel, -1 * u});
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.5, 20);
  tracking_case plus(two_threads, image, starts, settings), minus(two_threads, image, opposite, settings);
  settings.two_way = true;
  tracking_case both(two_threads, image, starts, settings);
  const auto forth = plus.points(plus.score(), 21), back = minus.points(minus.score(), 21);
  const auto whole = both.points(both.score(), 41);
  for (std::size_t f = 0; f < starts.size(); ++f)
    for (std::size_t i = 0; i <= 20; ++i) {
      EXPECT_EQ(whole[41 * f + 20 + i], forth[21 * f + i]);
      EXPECT_EQ(whole[41 * f + 20 - i], back[21 * f + i]);
    }
}

const helix_field helix(1, 0.2, 12, {32, 32, 0});

const tensor_field::tensor_image& noisy_helix(double sigma) {
  static std::map<double, tensor_field::tensor_image> made;
  auto [at, fresh] = made.try_emplace(sigma);
  if (fresh) {
    at->second = sampled(helix, cube);
    if (sigma > 0) add_log_noise(at->second, sigma, 18);
  }
  return at->second;
}

struct noise_case {
  ray_form form;
  interpolation reading;
  double affine_step, sigma, median_limit;
};

class GeodesicNoise : public testing::TestWithParam<noise_case> {};

/// Drift of the energy in a noisy helix, compared with the prototype's table of medians after 20 units of metric length
/// in steps of 0.2 and 0.05. Rays advance by 0.6 mm per unit on average. The table contains the drift at the end, which
/// the tracker does not store: the reference's drift at the end must match the table, and its largest drift the
/// tracker's. Refinement does not reduce the drift of the paper's form, because its fields of tensors and derivatives
/// are inconsistent. The table's 4e-3 (Hamiltonian, B-spline, 0.2, sigma 0.3) is not reached with this noise: it is
/// 5.0e-3 in double as well.
TEST_P(GeodesicNoise, DriftMatchesTheTable) {
  const auto& [form, reading, affine_step, sigma, limit] = GetParam();
  const auto& image = noisy_helix(sigma);
  const auto starts = starts_in_metric(helix, cube, 150);
  const double step_mm = 0.6 * affine_step;
  const auto steps = static_cast<std::uint32_t>(std::lround(12 / step_mm));
  tracking_case test({backend::cpu, 1, 0}, image, starts,
                     rays_along_axes(form, reading, integrator::rk2, step_mm, steps));
  const sampled_reader stored(test.field());

  const score_table scores = test.score();

  std::vector<double> largest(scores.drift.begin(), scores.drift.end()), expected, at_end;
  for (const auto& [voxel, u] : starts) {
    const auto ray = walk(stored, voxel, u, {form, integrator::rk2, step_mm, steps});
    at_end.push_back(ray.back().drift);
    expected.push_back(0);
    for (std::size_t i = 0; i < steps; ++i) expected.back() = std::max(expected.back(), ray[i].drift);
  }
  std::printf("form %d, reading %d, step %.2f, sigma %.1f: drift %.1e (in double %.1e), at the end %.1e, table %.1e\n",
              int(form), int(reading), affine_step, sigma, percentile(largest, 0.5), percentile(expected, 0.5),
              percentile(at_end, 0.5), limit);
  for (const double p : {0.25, 0.5, 0.75})
    EXPECT_NEAR(percentile(largest, p), percentile(expected, p), 0.05 * percentile(expected, p) + 1e-6);
  EXPECT_LE(percentile(at_end, 0.5), limit);
}

INSTANTIATE_TEST_SUITE_P(Table, GeodesicNoise,
                         testing::Values(noise_case{ray_form::christoffel, interpolation::trilinear, 0.2, 0, 3.5e-3},
                                         noise_case{ray_form::christoffel, interpolation::trilinear, 0.2, 0.1, 7.4e-2},
                                         noise_case{ray_form::christoffel, interpolation::trilinear, 0.2, 0.3, 0.27},
                                         noise_case{ray_form::christoffel, interpolation::trilinear, 0.05, 0.3, 0.27},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.2, 0, 8e-4},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.05, 0, 2e-4},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.2, 0.1, 2e-2},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.05, 0.1, 6e-3},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.2, 0.3, 6e-2},
                                         noise_case{ray_form::hamiltonian, interpolation::trilinear, 0.05, 0.3, 2e-2},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.2, 0, 1.5e-5},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.05, 0, 1e-6},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.2, 0.1, 6e-4},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.05, 0.1, 3e-5},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.2, 0.3, 5.1e-3},
                                         noise_case{ray_form::hamiltonian, interpolation::bspline, 0.05, 0.3, 1.2e-4}));

}  // namespace
