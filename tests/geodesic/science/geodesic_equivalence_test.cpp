#include <gtest/gtest.h>

#include "tests/geodesic/reference/geodesic_case.hpp"
#include "tests/geodesic/reference/geodesic_scores.hpp"
#include "tests/geodesic/support/geodesic_setting.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::ray_form;

class GeodesicCpuIsEquivalentToReference : public testing::TestWithParam<ray_scheme> {};

/// Tensors as brains have, in mm2/s.
const scaled_formula diffusivities(pullback, 1e-3);

/// Both rays of 100 fibres over 12 mm each. The reference reads the field as stored: rounding the tensors themselves
/// moves Hamiltonian rays by up to 1.1e-4 voxel here, since it enters p D p multiplied by the tensor's condition
/// number.
TEST_P(GeodesicCpuIsEquivalentToReference, InPositionsAndScores) {
  const auto image = sampled(diffusivities, oblique);
  const auto [form, reading, method] = GetParam();
  const auto starts = random_starts(100, {9, 9, 9}, {30, 26, 20}, 7);
  auto settings = rays_along_axes(form, reading, method, 0.4, 30);
  settings.two_way = true;
  tracking_case test(two_threads, image, starts, settings);
  const sampled_reader reader(test.field());
  const auto facts = reference_voxel_facts(image, {});

  const score_table scores = test.score();
  const auto points = test.points(scores, 61);

  int run_apart = 0;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    SCOPED_TRACE(testing::Message() << "fibre " << f);
    const auto& [voxel, u] = starts[f];
    const auto expected = score_fibre(reader, facts, voxel, u, settings);
    const auto beside = score_fibre(reader, facts, voxel, unit(u) + vec3{5e-6, -5e-6, 5e-6}, settings);
    ASSERT_EQ(scores.steps[2 * f], expected.steps[0]);
    ASSERT_EQ(scores.steps[2 * f + 1], expected.steps[1]);
    double worst = 0;
    for (std::size_t i = 0; i < expected.places.size(); ++i)
      worst = std::max(worst, norm(points[61 * f + i] - expected.places[i]));
    EXPECT_LT(worst, allowed_mm(expected.places, beside.places)) << "mm";
    if (worst > 1.5e-4) ++run_apart;
    EXPECT_NEAR(scores.length_mm[f], expected.length_mm, 2e-5 * expected.length_mm);
    EXPECT_NEAR(scores.metric_length[f], expected.metric_length, 2e-5 * expected.metric_length);
    EXPECT_NEAR(scores.relative[f], expected.relative, 2e-5);
    EXPECT_NEAR(scores.weakest[f], expected.weakest, 2e-5);
    EXPECT_NEAR(scores.mean_FA[f], expected.mean_FA, 2e-5);
    EXPECT_NEAR(scores.drift[f], expected.drift, 2e-5);
    EXPECT_NEAR(scores.measure[f], expected.measure, 2e-5 * expected.measure);
  }
  // Steps of 0.4 mm may cross a cell face, where the trilinear gradient jumps, earlier or later by a rounding error.
  EXPECT_LE(run_apart, form == ray_form::hamiltonian && reading == interpolation::trilinear ? 2 : 0);
}

/// All steps from measured tensors on: preparation in float compared with samples in double, up to the image's faces,
/// where splines are mirrored and differences one-sided.
TEST_P(GeodesicCpuIsEquivalentToReference, StartingFromTensors) {
  const auto image = sampled(diffusivities, oblique);
  const auto [form, reading, method] = GetParam();
  const auto starts = random_starts(150, {0, 0, 0}, {39, 35, 29}, 8);
  const auto settings = rays_along_axes(form, reading, method, 0.4, 30);
  tracking_case test(two_threads, image, starts, settings);
  const auto reader = reader_for(image, form, reading);
  const score_table scores = test.score();
  const auto ends = test.ends(scores);

  std::vector<double> apart;
  std::size_t left = 0;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    const auto ray = walk(reader, oblique.world(starts[f].voxel), starts[f].u, {form, method, settings.step_mm, 30});
    apart.push_back(norm(ends[f] - ray[scores.steps[2 * f]].place));
    left += scores.stops[2 * f] == std::uint8_t(geodesic::stop_reason::volume);
  }
  EXPECT_GT(left, 20u);
  EXPECT_LT(percentile(apart, 0.5), 5e-5) << "mm";
  EXPECT_LT(percentile(apart, 0.95), 1.5e-4) << "mm";
}

/// Tensors of brains (eigenvalues 1.7, 0.3, 0.3) and what sharpening makes of them: rounding enters p D p magnified by
/// the ratio of the eigenvalues, 5.7, 32 and 182, and so do rays that set out across. 20 mm in steps of 0.25.
TEST(GeodesicCpuPrecision, DecreasesWithTheRatioOfTheEigenvalues) {
  const sampling_grid cube{{64, 64, 64}, identity3, {}};
  const auto image = sampled(helix_field(1.7e-3, 0.3e-3, 12, {32, 32, 0}), cube);
  const auto starts = random_starts(100, {22, 22, 22}, {42, 42, 42}, 1);
  const double allowed_mm_for[] = {4e-5, 4e-4, 1e-2};
  for (int alpha = 1; alpha <= 3; ++alpha) {
    tensor_field::preparation how;
    how.metric = tensor_field::metric_kind::jeong;
    how.alpha = alpha;
    const auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::bspline, integrator::rk4, 0.25, 80);
    tracking_case test(two_threads, image, starts, settings, {}, how);
    const sampled_reader reader(test.field());
    const score_table scores = test.score();
    const auto ends = test.ends(scores);
    double worst = 0;
    for (std::size_t f = 0; f < starts.size(); ++f) {
      if (scores.steps[2 * f] < 80) continue;
      const auto ray = walk(reader, starts[f].voxel, starts[f].u, {settings.form, settings.method, 0.25, 80});
      worst = std::max(worst, norm(ends[f] - ray.back().place));
    }
    EXPECT_LT(worst, allowed_mm_for[alpha - 1]) << "alpha " << alpha;
    EXPECT_GT(worst, 0) << "alpha " << alpha;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, GeodesicCpuIsEquivalentToReference,
    testing::Values(ray_scheme{ray_form::hamiltonian, interpolation::trilinear, integrator::euler},
                    ray_scheme{ray_form::hamiltonian, interpolation::trilinear, integrator::rk2},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk2_frozen},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk2},
                    ray_scheme{ray_form::hamiltonian, interpolation::bspline, integrator::rk4},
                    ray_scheme{ray_form::christoffel, interpolation::trilinear, integrator::euler},
                    ray_scheme{ray_form::christoffel, interpolation::trilinear, integrator::rk2_frozen},
                    ray_scheme{ray_form::christoffel, interpolation::trilinear, integrator::rk2},
                    ray_scheme{ray_form::christoffel, interpolation::bspline, integrator::rk4},
                    ray_scheme{ray_form::streamline, interpolation::trilinear, integrator::rk4},
                    ray_scheme{ray_form::streamline, interpolation::trilinear, integrator::euler},
                    ray_scheme{ray_form::streamline, interpolation::bspline, integrator::rk2}));

}  // namespace
