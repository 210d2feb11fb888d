#include <gtest/gtest.h>

#include <numbers>

#include "tests/geodesic/reference/geodesic_case.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::geodesic;

ray_settings busy_settings() {
  auto s = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.4, 90);
  s.two_way = true;
  s.stop_at_loops = true;
  s.directions = direction_kind::random;
  s.directions_per_seed = 9;
  s.random_seed = 77;
  return s;
}

TEST(GeodesicScores, AreTheSameBytesForAnyBatchesAndThreads) {
  const auto image = sampled(pullback, cube);
  const auto starts = random_starts(41, {2, 2, 2}, {61, 61, 61}, 9);
  tracking_case one({backend::cpu, 1, 0}, image, starts, busy_settings());
  tracking_case three({backend::cpu, 3, 0}, image, starts, busy_settings());
  const score_table whole = one.score();

  EXPECT_TRUE(three.score() == whole);
  score_table pieces(whole.size());
  for (std::size_t first = 0, size = 1; first < whole.size(); first += size, size = 2 * size + 3) {
    size = std::min(size, whole.size() - first);
    three.tracker().score(first, size, pieces.view(first));
  }
  EXPECT_TRUE(pieces == whole);
}

/// Point i of n is floor(i S / (n - 1)) steps from the end of the -u ray.
TEST(GeodesicTrace, GivesPositionsAtTheDocumentedSteps) {
  const auto image = sampled(pullback, cube);
  const auto starts = random_starts(20, {8, 8, 8}, {55, 55, 55}, 10);
  const auto settings = busy_settings();
  tracking_case test(two_threads, image, starts, settings);
  const score_table scores = test.score();

  // Every step of every fibre; then any number of points, and fibres in any order, in separate batches.
  std::vector<std::uint64_t> all, every{0};
  for (std::uint64_t f = 0; f < scores.size(); ++f) {
    all.push_back(f);
    every.push_back(every.back() + scores.steps[2 * f] + scores.steps[2 * f + 1] + 1);
  }
  std::vector<float> position(3 * every.back());
  test.tracker().trace(all, scores.steps.data(), every, {position.data(), nullptr, nullptr});
  const auto steps_of_all = as_places(position);

  std::vector<std::uint64_t> chosen, offsets{1000};
  std::vector<std::uint32_t> steps;
  for (std::uint64_t f = scores.size(); f-- > 0;) {
    chosen.push_back(f);
    offsets.push_back(offsets.back() + (f * 7) % 23);
    steps.insert(steps.end(), {scores.steps[2 * f], scores.steps[2 * f + 1]});
  }
  std::vector<float> some(3 * (offsets.back() - 1000), -1);
  test.tracker().trace(chosen, steps.data(), offsets, {some.data(), nullptr, nullptr});
  const auto points = as_places(some);

  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const std::uint64_t f = chosen[c], S = steps[2 * c] + steps[2 * c + 1], n = offsets[c + 1] - offsets[c];
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t step = n == 1 ? scores.steps[2 * f + 1] : i * S / (n - 1);
      EXPECT_EQ(points[offsets[c] - 1000 + i], steps_of_all[every[f] + step]) << "fibre " << f << ", point " << i;
    }
    const vec3 seed = starts[f / settings.directions_per_seed].voxel;
    EXPECT_LT(norm(steps_of_all[every[f] + scores.steps[2 * f + 1]] - seed), 1e-5);
  }
}

TEST(GeodesicTrace, ChordsAddUpToTheScoredLength) {
  const auto image = sampled(pullback, cube);
  const auto starts = random_starts(30, {8, 8, 8}, {55, 55, 55}, 12);
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.4, 90);
  settings.max_length_mm = 24;  // 60 steps, or 30 to each side
  for (const bool two_way : {false, true}) {
    settings.two_way = two_way;
    tracking_case test(two_threads, image, starts, settings);
    const score_table scores = test.score();
    const auto points = test.points(scores, 61);
    for (std::size_t f = 0; f < starts.size(); ++f) {
      double sum = 0;
      for (std::size_t i = 1; i < 61; ++i) sum += norm(points[61 * f + i] - points[61 * f + i - 1]);
      EXPECT_NEAR(scores.length_mm[f], sum, 1e-3);
      EXPECT_LE(scores.steps[2 * f] + scores.steps[2 * f + 1], 60u);
    }
  }
}

/// The measured tensors' FA and the relative speed at the points.
TEST(GeodesicTrace, CarriesFAAndRelativeSpeed) {
  const mat3 D{{{1.5e-3, 0, 0}, {0, 0.5e-3, 0}, {0, 0, 0.5e-3}}};
  const auto image = sampled(constant_field(D), {{20, 20, 20}, identity3, {}});
  const vec3 u = rounded_unit({1, 1, 0});
  tracking_case test(two_threads, image, {{{5, 5, 10}, u}},
                     rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.5, 10));
  const score_table scores = test.score();
  const std::uint64_t fibre = 0, offsets[] = {0, 11};
  std::vector<float> position(33), FA(11), relative(11);
  test.tracker().trace({&fibre, 1}, scores.steps.data(), offsets, {position.data(), FA.data(), relative.data()});
  // Mean 5/6e-3, deviations 2/3, -1/3, -1/3: FA^2 = 3/2 (6/9) / (2.25 + 0.5) = 1 / 2.75.
  // 1 / u G u = 2 / (1 / 1.5 + 1 / 0.5) = 0.75e-3, half of the largest.
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_NEAR(FA[i], std::sqrt(1 / 2.75), 1e-6);
    EXPECT_NEAR(relative[i], std::sqrt(0.5), 1e-5);
  }
  EXPECT_NEAR(scores.relative[0], std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(scores.weakest[0], std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(scores.mean_FA[0], std::sqrt(1 / 2.75), 1e-6);
  EXPECT_NEAR(scores.metric_length[0], 5 / std::sqrt(0.75e-3), 1e-3);
  EXPECT_NEAR(scores.measure[0], std::sqrt(0.75e-3), 1e-7);
}

/// In isotropic diffusivity every ray is as fast as possible; the largest speed is the nearest voxel's and the ray's
/// own is interpolated, which must not exceed it.
TEST(GeodesicScores, RelativeSpeedsAreAtMostOne) {
  const sampling_grid above{{64, 64, 64}, identity3, {0, 0, 16}};
  const auto image = sampled(hyperbolic_field(32), above);
  const auto starts = random_starts(500, {22, 22, 22}, {42, 42, 42}, 4);
  for (const auto form : {ray_form::hamiltonian, ray_form::streamline}) {
    tracking_case test(two_threads, image, starts,
                       rays_along_axes(form, interpolation::bspline, integrator::rk2, 0.25, 60));
    const score_table scores = test.score();
    std::vector<std::uint64_t> all, offsets{0};
    for (std::uint64_t f = 0; f < starts.size(); ++f) all.push_back(f), offsets.push_back(61 * (f + 1));
    std::vector<float> position(3 * offsets.back()), relative(offsets.back());
    test.tracker().trace(all, scores.steps.data(), offsets, {position.data(), nullptr, relative.data()});
    for (std::size_t f = 0; f < starts.size(); ++f) {
      EXPECT_LE(scores.relative[f], 1) << f;
      EXPECT_GT(scores.relative[f], 0.98) << f;
      EXPECT_LE(scores.weakest[f], 1) << f;
    }
    for (const float r : relative) EXPECT_LE(r, 1);
  }
}

/// The same field in the world, on an oblique grid of unequal sides and on a straight one, both sufficiently fine: the
/// same curves.
TEST(GeodesicAffine, DoesNotDependOnTheGrid) {
  const pullback_field field(128);
  const sampling_grid straight{{70, 70, 70}, identity3, {0, 0, 0}};
  const sampling_grid slanted{{80, 76, 44}, {{{-0.9, 0.25, 0.1}, {0.2, 1.0, -0.3}, {0.1, 0.2, 1.6}}}, {60, -4, -6}};
  const auto starts = random_starts(100, {24, 24, 24}, {44, 44, 44}, 13);
  std::vector<ray_start> elsewhere;
  for (const auto& [voxel, u] : starts) elsewhere.push_back({slanted.voxel(straight.world(voxel)), u});
  for (const auto form : {ray_form::hamiltonian, ray_form::streamline}) {
    const auto settings = rays_along_axes(form, interpolation::bspline, integrator::rk4, 0.25, 60);
    tracking_case here(two_threads, sampled(field, straight), starts, settings);
    tracking_case there(two_threads, sampled(field, slanted), elsewhere, settings);
    const score_table a = here.score(), b = there.score();
    const auto x = here.points(a, 61), y = there.points(b, 61);
    EXPECT_EQ(a.steps, b.steps);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, norm(x[i] - y[i]));
    EXPECT_LT(worst, 5e-4) << "form " << int(form);
    for (std::size_t f = 0; f < starts.size(); ++f)
      EXPECT_NEAR(a.metric_length[f], b.metric_length[f], 1e-4 * b.metric_length[f]);
  }
}

/// Tensors in another unit, a factor of 2^10 so that nothing is rounded: the same bytes except for the metric's unit.
TEST(GeodesicUnits, CurvesDoNotDependOnTheTensorsUnit) {
  const auto starts = random_starts(50, {22, 22, 22}, {42, 42, 42}, 14);
  const auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.25, 60);
  tracking_case large(two_threads, sampled(pullback, cube), starts, settings);
  tracking_case small(two_threads, sampled(scaled_formula(pullback, 1.0 / 1024), cube), starts, settings);
  const score_table a = large.score(), b = small.score();
  EXPECT_EQ(large.points(a, 61), small.points(b, 61));
  EXPECT_EQ(a.relative, b.relative);
  EXPECT_EQ(a.weakest, b.weakest);
  EXPECT_EQ(a.length_mm, b.length_mm);
  for (std::size_t f = 0; f < starts.size(); ++f) EXPECT_FLOAT_EQ(a.metric_length[f], b.metric_length[f] / 32);
}

/// First directions of all fibres of one seed, shown by the ends of straight lines.
std::vector<vec3> sample_directions(ray_settings settings, std::uint32_t count, const vec3& axis) {
  settings.directions_per_seed = count;
  tracking_case test(two_threads, sampled(constant_field(identity3), {{21, 21, 21}, identity3, {}}),
                     {{{10, 10, 10}, axis}}, settings);
  auto ends = test.ends(test.score());
  for (vec3& e : ends) e = unit(e - vec3{10, 10, 10});
  return ends;
}

double nearest_pair_degrees(const std::vector<vec3>& u) {
  double most = -1;
  for (std::size_t i = 0; i < u.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) most = std::max(most, dot(u[i], u[j]));
  return std::acos(most) * 180 / std::numbers::pi;
}

TEST(GeodesicDirections, CoverTheSphereEvenly) {
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1, 8);
  settings.directions = direction_kind::sphere;
  const auto u = sample_directions(settings, 400, {0, 0, 1});
  mat3 second{};
  vec3 mean{};
  for (const vec3& one : u) mean = mean + 1.0 / 400 * one, second = second + 1.0 / 400 * outer(one, one);
  EXPECT_LT(norm(mean), 5e-3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(second[i][i], 1.0 / 3, 5e-3);
  // 400 caps that touch without overlap and fill 91 % of the sphere, the best possible, are 10.9 degrees apart.
  EXPECT_GT(nearest_pair_degrees(u), 8);
}

TEST(GeodesicDirections, AreDrawnUniformlyAndByTheSeed) {
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1, 8);
  settings.directions = direction_kind::random;
  const auto u = sample_directions(settings, 20000, {0, 0, 1});
  mat3 second{};
  vec3 mean{};
  for (const vec3& one : u) mean = mean + 1.0 / 20000 * one, second = second + 1.0 / 20000 * outer(one, one);
  // Deviations of a mean of 20,000: sqrt(1/3 / 20000) and sqrt(4/45 / 20000); four of them.
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(mean[i], 0, 4 * 0.0041);
    EXPECT_NEAR(second[i][i], 1.0 / 3, 4 * 0.0021);
  }
  settings.random_seed = 1;
  EXPECT_GT(norm(sample_directions(settings, 1, {0, 0, 1})[0] - u[0]), 1e-3);
}

TEST(GeodesicDirections, AlternateAlongTheAxis) {
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1, 8);
  const vec3 axis = rounded_unit({1, -2, 0.5});
  const auto u = sample_directions(settings, 2, axis);
  EXPECT_LT(norm(u[0] - axis), 1e-6);
  EXPECT_LT(norm(u[1] + axis), 1e-6);
}

TEST(GeodesicDirections, StayInTheConeAboutTheAxis) {
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 1, 8);
  settings.directions = direction_kind::cone;
  settings.cone_degrees = 25;
  const vec3 axis = rounded_unit({1, -2, 0.5});
  int forth = 0;
  double widest = 1;
  for (const vec3& u : sample_directions(settings, 200, axis)) {
    const double along = dot(u, axis);
    forth += along > 0;
    widest = std::min(widest, std::abs(along));
    EXPECT_GT(std::abs(along), std::cos(25 * std::numbers::pi / 180) - 1e-6);
  }
  EXPECT_EQ(forth, 100);
  EXPECT_LT(widest, std::cos(24.5 * std::numbers::pi / 180));
}

}  // namespace
