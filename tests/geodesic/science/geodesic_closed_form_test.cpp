#include <gtest/gtest.h>

#include <numbers>

#include "tests/geodesic/reference/geodesic_case.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"
#include "tests/support/devices.hpp"

/// The tracker on sampled fields whose geodesics are known. One voxel is 1 mm unless a test says otherwise.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;

const ray_scheme every_scheme[] = {{ray_form::christoffel, interpolation::trilinear, integrator::euler},
                                   {ray_form::christoffel, interpolation::trilinear, integrator::rk2_frozen},
                                   {ray_form::christoffel, interpolation::bspline, integrator::rk2},
                                   {ray_form::hamiltonian, interpolation::trilinear, integrator::rk2_frozen},
                                   {ray_form::hamiltonian, interpolation::trilinear, integrator::rk4},
                                   {ray_form::hamiltonian, interpolation::bspline, integrator::rk2}};

TEST(GeodesicClosedForm, StraightLinesAreExactInAConstantField) {
  const mat3 D{{{1.0e-3, 3e-4, -2e-4}, {3e-4, 7e-4, 1e-4}, {-2e-4, 1e-4, 5e-4}}};
  const constant_field field(D);
  const sampling_grid slanted{{30, 30, 30}, {{{2, 0.3, 0}, {-0.2, 1.5, 0.1}, {0, 0.1, 2.5}}}, {5, -20, 7}};
  const auto image = sampled(field, slanted);
  const auto starts = random_starts(64, {10, 10, 10}, {20, 20, 20}, 3);
  for (const auto& [form, reading, method] : every_scheme) {
    SCOPED_TRACE(testing::Message() << int(form) << int(reading) << int(method));
    tracking_case test(two_threads, image, starts, rays_along_axes(form, reading, method, 0.5, 24));
    const auto scores = test.score();
    const auto ends = test.ends(scores);
    for (std::size_t f = 0; f < starts.size(); ++f) {
      const vec3 x0 = slanted.world(starts[f].voxel), exact = field.end(x0, starts[f].u, 12);
      EXPECT_LT(norm(ends[f] - exact), 3e-5);
      EXPECT_NEAR(scores.length_mm[f], 12, 1e-5);
      EXPECT_NEAR(scores.metric_length[f], field.distance(x0, exact), 3e-6 * scores.metric_length[f]);
      EXPECT_LT(scores.drift[f], 2e-5);
    }
  }
}

/// Compares ends with the closed form after the metric length that the tracker reports.
double worst_miss(const solved_field& field, const sampling_grid& grid, const ray_scheme& s,
                  const std::vector<ray_start>& starts, double step_mm, std::uint32_t steps) {
  tracking_case test(two_threads, sampled(field, grid), starts,
                     rays_along_axes(s.form, s.reading, s.method, step_mm, steps));
  const auto scores = test.score();
  const auto ends = test.ends(scores);
  double worst = 0;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    EXPECT_EQ(scores.steps[2 * f], steps);
    const vec3 x0 = grid.world(starts[f].voxel);
    worst =
        std::max(worst, norm(ends[f] - field.end_of_metric_length(x0, starts[f].u, double(scores.metric_length[f]))));
  }
  return worst;
}

constexpr ray_scheme best{ray_form::hamiltonian, interpolation::bspline, integrator::rk4};

TEST(GeodesicClosedForm, SemicirclesInTheHyperbolicHalfSpace) {
  const sampling_grid above{{64, 64, 64}, identity3, {0, 0, 16}};
  EXPECT_LT(worst_miss(hyperbolic_field(32), above, best, random_starts(200, {22, 22, 22}, {42, 42, 42}, 1), 0.25, 80),
            5e-5);
}

TEST(GeodesicClosedForm, CirclesInThePoincareBall) {
  EXPECT_LT(
      worst_miss(ball_field(80, {32, 32, 32}), cube, best, random_starts(200, {22, 22, 22}, {42, 42, 42}, 2), 0.25, 80),
      1e-4);
}

TEST(GeodesicClosedForm, StraightInPhiInThePullback) {
  EXPECT_LT(worst_miss(pullback_field(128), cube, best, random_starts(200, {22, 22, 22}, {42, 42, 42}, 3), 0.25, 80),
            3e-4);
}

TEST(GeodesicClosedForm, EveryDirectionHitsTheFocusOfTheFishEye) {
  const fish_eye_field eye(16, 1, {40, 40, 40});
  const sampling_grid large{{80, 80, 80}, identity3, {}};
  const vec3 x0{28, 34, 42}, focus = eye.focus(x0);
  // Rays that stay at least a few voxels inside the grid, where the mirrored ends of splines have no influence.
  std::vector<ray_start> starts;
  for (const auto& candidate : random_starts(400, x0, x0, 5)) {
    bool inside = true;
    const double length = eye.length_to_focus(x0, candidate.u);
    for (int i = 0; i <= 100; ++i) {
      const vec3 x = eye.end(x0, candidate.u, length * i / 100);
      for (const double c : x) inside = inside && c > 6 && c < 73;
    }
    if (inside) starts.push_back(candidate);
  }
  ASSERT_GT(starts.size(), 250u);
  // Steps are 0.25 mm of Euclidean length: rays have different numbers of steps.
  tracking_case test(two_threads, sampled(eye, large), starts,
                     rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk4, 0.25, 800));
  const auto points = test.points(test.score(), 801);
  for (std::size_t f = 0; f < starts.size(); ++f) {
    double nearest = 1e9;
    for (std::size_t i = 0; i < 800; ++i) {
      // The closest point of the chord to the next point; rays that left the image earlier repeat some points.
      const vec3 a = points[801 * f + i], d = points[801 * f + i + 1] - a;
      const double along = dot(d, d) > 0 ? std::clamp(dot(focus - a, d) / dot(d, d), 0.0, 1.0) : 0;
      nearest = std::min(nearest, norm(a + along * d - focus));
    }
    // A chord of 0.25 mm lies 0.25^2 / 8 r below its arc: 8e-4 for r of 10 mm.
    EXPECT_LT(nearest, 2e-3) << "fibre " << f;
  }
}

/// Momenta about the helix's axis and along it, and where the reduced equation says that the ray ends.
TEST(GeodesicClosedForm, HelixKeepsClairautsInvariants) {
  const helix_field helix(1, 0.2, 12, {32, 32, 0});
  auto starts = random_starts(200, {36, 36, 26}, {44, 44, 38}, 6);
  tracking_case test(two_threads, sampled(helix, cube), starts,
                     rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk4, 0.25, 60));
  const auto scores = test.score();
  const auto points = test.points(scores, 61);
  for (std::size_t f = 0; f < starts.size(); ++f) {
    const vec3 x0 = starts[f].voxel, u = starts[f].u;
    const vec3* ray = &points[61 * f];
    const vec3 exact = helix.end_of_metric_length(x0, u, double(scores.metric_length[f]));
    EXPECT_LT(norm(ray[60] - exact), 1e-3);
    const mat3 G = inverse(helix.D(x0));
    const auto before = helix.ray_invariants(x0, 1 / std::sqrt(form(u, G, u)) * (G * u));
    // The direction at the last but one place: fourth-order central difference of places that are steps apart.
    const std::size_t i = 58;
    const vec3 tangent = unit(8.0 * (ray[i + 1] - ray[i - 1]) - (ray[i + 2] - ray[i - 2]));
    const mat3 there = inverse(helix.D(ray[i]));
    const auto after = helix.ray_invariants(ray[i], 1 / std::sqrt(form(tangent, there, tangent)) * (there * tangent));
    EXPECT_NEAR(after.p_z, before.p_z, 1e-3 * norm(G * u));
    EXPECT_NEAR(after.p_theta, before.p_theta, 1e-2 * norm(G * u));
  }
}

TEST(GeodesicClosedForm, StreamlinesFollowTheHelix) {
  const helix_field helix(1e-3, 0.2e-3, 12, {32, 32, 0});
  // 5 mm from the axis a length of 13 mm is a turn by 1 rad and a rise by 12 mm.
  std::vector<ray_start> starts;
  for (int i = 0; i < 40; ++i) {
    const double angle = 2 * std::numbers::pi * i / 40;
    const vec3 from{32 + 5 * std::cos(angle), 32 + 5 * std::sin(angle), 20};
    starts.push_back({from, rounded_unit({-5 * std::sin(angle), 5 * std::cos(angle), 12})});
  }
  tracking_case test(two_threads, sampled(helix, cube), starts,
                     rays_along_axes(ray_form::streamline, interpolation::bspline, integrator::rk4, 0.25, 52));
  const auto ends = test.ends(test.score());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const double angle = 2 * std::numbers::pi * double(i) / 40 + 1;
    EXPECT_LT(norm(ends[i] - vec3{32 + 5 * std::cos(angle), 32 + 5 * std::sin(angle), 32}), 1e-3);
  }
}

}  // namespace
