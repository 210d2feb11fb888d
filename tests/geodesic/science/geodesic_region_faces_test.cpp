#include <gtest/gtest.h>

#include <set>

#include "tests/geodesic/reference/geodesic_scores.hpp"
#include "tests/geodesic/support/geodesic_mosaic.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::geodesic;

/// All points of each fibre, which has a point per step: element f.
std::vector<std::vector<vec3>> all_points(tracking_case& test, const score_table& scores) {
  std::vector<std::uint64_t> fibres, offsets{0};
  for (std::size_t f = 0; f < scores.size(); ++f) {
    fibres.push_back(f);
    offsets.push_back(offsets.back() + scores.steps[2 * f] + scores.steps[2 * f + 1] + 1);
  }
  std::vector<float> position(3 * offsets.back());
  test.tracker().trace(fibres, scores.steps.data(), offsets, {position.data(), nullptr, nullptr});
  const auto all = as_places(position);
  std::vector<std::vector<vec3>> each;
  for (std::size_t f = 0; f < fibres.size(); ++f)
    each.emplace_back(all.begin() + std::ptrdiff_t(offsets[f]), all.begin() + std::ptrdiff_t(offsets[f + 1]));
  return each;
}

struct face_case {
  const char* name;
  ray_form form;
  interpolation reading;
  integrator method;
};

class RegionFaces : public testing::TestWithParam<face_case> {};

/// Steps longer than the small tiles are wide in places, so that most of them would end behind their region.
TEST_P(RegionFaces, ContainTheEndsOfFibresThatAreCreditedToThem) {
  const auto regions = mosaic();
  auto settings = rays_along_axes(GetParam().form, GetParam().reading, GetParam().method, 1.3, 25);
  settings.two_way = settings.targets = true;
  const auto starts = random_starts(1500, {1, 3, 3}, {34, 30, 26}, 5);
  tracking_case test(two_threads, mosaic_image(), starts, settings, regions);

  const score_table scores = test.score();
  const auto fibres = all_points(test, scores);

  std::size_t ends = 0, on_face = 0;
  for (std::size_t f = 0; f < scores.size(); ++f) {
    double length_mm = 0;
    for (std::size_t i = 1; i < fibres[f].size(); ++i) length_mm += norm(fibres[f][i] - fibres[f][i - 1]);
    EXPECT_NEAR(length_mm, scores.length_mm[f], 1e-4 + 1e-5 * length_mm) << f;
    for (std::size_t ray = 0; ray < 2; ++ray) {
      if (scores.stops[2 * f + ray] != std::uint8_t(stop_reason::target)) continue;
      const vec3 end = mosaic_grid.voxel(ray == 0 ? fibres[f].back() : fibres[f].front());
      double outside = 1;
      const std::array<long, 3> voxel{std::lround(end[0]), std::lround(end[1]), std::lround(end[2])};
      for (std::size_t a = 0; a < 3; ++a) outside = std::min(outside, 0.5 - std::abs(end[a] - double(voxel[a])));
      const auto at = std::size_t(voxel[0]) +
                      mosaic_grid.size[0] * (std::size_t(voxel[1]) + mosaic_grid.size[1] * std::size_t(voxel[2]));
      EXPECT_EQ(std::int32_t(regions[at] >> region::target_shift), scores.regions[2 * f + 1 - ray]) << f;
      ++ends, on_face += outside < 1e-4;
    }
  }
  EXPECT_GT(ends, 300u);
  EXPECT_EQ(on_face, ends);
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, RegionFaces,
    testing::Values(
        face_case{"hamiltonian_bspline_rk2", ray_form::hamiltonian, interpolation::bspline, integrator::rk2},
        face_case{"hamiltonian_trilinear_rk4", ray_form::hamiltonian, interpolation::trilinear, integrator::rk4},
        face_case{"christoffel_trilinear_frozen", ray_form::christoffel, interpolation::trilinear,
                  integrator::rk2_frozen},
        face_case{"christoffel_bspline_euler", ray_form::christoffel, interpolation::bspline, integrator::euler},
        face_case{"streamline_trilinear_rk4", ray_form::streamline, interpolation::trilinear, integrator::rk4},
        face_case{"streamline_bspline_euler", ray_form::streamline, interpolation::bspline, integrator::euler}),
    [](const auto& one) { return std::string(one.param.name); });

/// Straight lines to a slab whose face is at x = 11.5, in steps that do not divide the way.
TEST(RegionFace, EndsAStraightFibre) {
  const sampling_grid grid{{20, 20, 20}, identity3, {}};
  const auto image = sampled(constant_field(0.25 * identity3), grid);
  const auto regions =
      painted(grid, [](long x, long, long) { return x == 12 ? target_bits(1) : std::uint32_t(region::inside); });
  const std::vector<ray_start> starts{{{5, 5, 5}, {1, 0, 0}}, {{4.9, 5, 6}, rounded_unit({1, 0.6, 0.4})}};
  auto settings = rays_along_axes(ray_form::hamiltonian, interpolation::trilinear, integrator::rk2, 0.7, 40);
  settings.targets = true;
  tracking_case test(two_threads, image, starts, settings, regions);

  const score_table scores = test.score();
  const auto ends = test.ends(scores);

  for (std::size_t f = 0; f < 2; ++f) {
    const vec3 from = starts[f].voxel, u = starts[f].u;
    const double way = (11.5 - from[0]) / u[0];
    EXPECT_EQ(scores.stops[2 * f], std::uint8_t(stop_reason::target));
    EXPECT_EQ(scores.steps[2 * f], std::uint32_t(std::ceil(way / 0.7)));
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(ends[f][a], from[a] + way * u[a], 1e-4) << "axis " << a;
    EXPECT_GT(ends[f][0], 11.5);
    EXPECT_NEAR(scores.length_mm[f], way, 1e-4);
    EXPECT_NEAR(scores.metric_length[f], way / 0.5, 2e-4);
  }
}

}  // namespace
