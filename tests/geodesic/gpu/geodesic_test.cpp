#include <gtest/gtest.h>

#include "tests/geodesic/reference/geodesic_reference.hpp"
#include "tests/geodesic/support/geodesic_mosaic.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::geodesic;

class GeodesicCuda : public testing::TestWithParam<ray_scheme> {
 protected:
  void SetUp() override { skip_without_gpu(); }
};

/// How far rounding may move the two rays of a start: at least allowed_mm for all neighbours, since a ray may be stable
/// against a perturbation in one direction.
double sensitivity_mm(const sampled_reader& field, const ray_start& from, const walk_settings& how) {
  const auto rays = [&](const vec3& u) {
    std::vector<vec3> places;
    for (const double sign : {1.0, -1.0})
      for (const auto& p : walk(field, oblique.world(from.voxel), sign * u, how)) places.push_back(p.place);
    return places;
  };
  const std::vector<vec3> ray = rays(from.u);
  double most = 0;
  for (const double push : {5e-6, -5e-6})
    for (const vec3& aside : {vec3{push, 0, 0}, vec3{0, push, 0}, vec3{0, 0, push}})
      most = std::max(most, allowed_mm(ray, rays(from.u + aside)));
  return most;
}

/// Compares with the CPU tracker; the reference shows where rays diverge by themselves. Both devices prepare their own
/// field.
TEST_P(GeodesicCuda, IsEquivalentToCpu) {
  const auto image = sampled(scaled_formula(pullback_field(), 1e-3), oblique);
  const auto [form, reading, method] = GetParam();
  const auto starts = random_starts(500, {9, 9, 9}, {30, 26, 20}, 7);
  auto settings = rays_along_axes(form, reading, method, 0.4, 30);
  settings.two_way = true;
  tracking_case there(first_gpu, image, starts, settings);
  auto in_host = settings;
  if (reading == interpolation::texture) in_host.reading = interpolation::trilinear;
  tracking_case here(two_threads, image, starts, in_host);

  use_device(first_gpu);
  const score_table got = there.score();
  const auto points = there.points(got, 61);
  const score_table expected = here.score();
  const auto expected_points = here.points(expected, 61);

  EXPECT_EQ(got.verdict, expected.verdict);
  EXPECT_EQ(got.stops, expected.stops);
  EXPECT_EQ(got.steps, expected.steps);
  // Textures weigh corners in steps of 1/256.
  const bool texture = reading == interpolation::texture;
  const double voxel_mm = 1.5, tolerance = texture ? 2e-3 : 4e-5;
  const sampled_reader stored(here.field());
  for (std::size_t f = 0; f < starts.size(); ++f) {
    double worst = 0;
    for (std::size_t i = 0; i < 61; ++i)
      worst = std::max(worst, norm(points[61 * f + i] - expected_points[61 * f + i]));
    const double limit = texture ? 1e-2 * voxel_mm : 1e-4 * voxel_mm;
    if (worst > limit && !texture) {
      EXPECT_LT(worst, sensitivity_mm(stored, starts[f], {form, method, settings.step_mm, 30})) << "fibre " << f;
    } else {
      EXPECT_LE(worst, limit) << "fibre " << f;
    }
    EXPECT_NEAR(got.length_mm[f], expected.length_mm[f], tolerance * expected.length_mm[f]);
    EXPECT_NEAR(got.metric_length[f], expected.metric_length[f], tolerance * expected.metric_length[f]);
    EXPECT_NEAR(got.relative[f], expected.relative[f], tolerance);
    EXPECT_NEAR(got.weakest[f], expected.weakest[f], tolerance);
    EXPECT_NEAR(got.mean_FA[f], expected.mean_FA[f], tolerance);
    EXPECT_NEAR(got.drift[f], expected.drift[f], tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, GeodesicCuda,
    testing::Values(ray_scheme{ray_form::hamiltonian, interpolation::trilinear, integrator::euler},
                    ray_scheme{ray_form::hamiltonian, interpolation::trilinear, integrator::rk2},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk2_frozen},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk2},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk4},
                    ray_scheme{ray_form::christoffel, interpolation::trilinear, integrator::rk2_frozen},
                    ray_scheme{ray_form::christoffel, interpolation::trilinear, integrator::rk2},
                    ray_scheme{ray_form::christoffel, interpolation::bspline, integrator::rk2},
                    ray_scheme{ray_form::christoffel, interpolation::texture, integrator::rk2},
                    ray_scheme{ray_form::streamline, interpolation::trilinear, integrator::rk4},
                    ray_scheme{ray_form::streamline, interpolation::bspline, integrator::rk4}));

class GeodesicCudaRegions : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { skip_without_gpu(); }
};

/// With regions and limits of every kind: the same fibres are accepted, and the others rejected for the same reason.
TEST_P(GeodesicCudaRegions, AcceptTheSameFibresAsTheCpu) {
  const bool two_way = GetParam();
  const auto image = mosaic_image();
  const auto starts = random_starts(20000, {-0.5, 3, 3}, {35.5, 30, 26}, 21);
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 1.3, 25);
  settings.two_way = settings.targets = two_way;
  settings.ordered = !two_way;
  settings.includes = two_way ? 1 : 2;
  settings.min_cosine = cosine_on_circle(settings.step_mm, 4);
  settings.min_FA = 0.5f;
  settings.max_drift = 0.2f;
  settings.max_length_mm = 22;
  settings.min_length_mm = 4;
  settings.measure = measure_kind::relative;
  settings.min_measure = 0.7f;
  tracking_case there(first_gpu, image, starts, settings, mosaic()),
      here(two_threads, image, starts, settings, mosaic());

  use_device(first_gpu);
  const score_table got = there.score();
  const score_table expected = here.score();

  ASSERT_NE(std::count(expected.verdict.begin(), expected.verdict.end(), std::uint8_t(verdict::accepted)), 0);
  EXPECT_EQ(got.verdict, expected.verdict);
  EXPECT_EQ(got.stops, expected.stops);
  EXPECT_EQ(got.regions, expected.regions);
  EXPECT_EQ(got.steps, expected.steps);
}

INSTANTIATE_TEST_SUITE_P(Rays, GeodesicCudaRegions, testing::Bool());

/// The batches of a run have no influence.
TEST(GeodesicCudaScores, AreTheSameBytesForAnyBatches) {
  ASSERT_NO_FATAL_FAILURE(skip_without_gpu());
  if (testing::Test::IsSkipped()) return;
  const auto image = sampled(pullback_field(), {{64, 64, 64}, identity3, {}});
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk2, 0.4, 90);
  settings.two_way = settings.stop_at_loops = true;
  settings.directions = direction_kind::random;
  settings.directions_per_seed = 40;
  settings.random_seed = 77;
  tracking_case test(first_gpu, image, random_starts(100, {2, 2, 2}, {61, 61, 61}, 9), settings);
  const score_table whole = test.score();
  score_table pieces(whole.size());
  for (std::size_t first = 0, size = 1; first < whole.size(); first += size, size = 2 * size + 3) {
    size = std::min(size, whole.size() - first);
    test.tracker().score(first, size, pieces.view(first));
  }
  EXPECT_TRUE(pieces == whole);
}

}  // namespace
