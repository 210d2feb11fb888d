#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/tensor_field/finsler4.hpp"
#include "tests/geodesic/reference/finsler_case.hpp"
#include "tests/geodesic/reference/geodesic_field_case.hpp"
#include "tests/geodesic/reference/quartic_field_case.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using reference::norms_of_tensors;
using reference::uneven_tensors;

TEST(QuarticFieldCpu, OfTensorsIsTheirMetric) {
  reference::expect_quartic_field_of_tensors_to_be_their_metric(two_threads, metric_kind::inverse);
  reference::expect_quartic_field_of_tensors_to_be_their_metric(two_threads, metric_kind::adjugate);
}

TEST(QuarticFieldCpu, CoefficientsAreEquivalentToReference) {
  reference::expect_quartic_coefficients_equivalent_to_reference(two_threads);
}

TEST(QuarticFieldCpu, IsConvexEverywhere) {
  const tensor_image image = uneven_tensors();
  const auto values = host_values(*make_quartic_field(two_threads, image, norms_of_tensors(image), {}, {}, false));
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    double t[quartic_size];
    for (std::size_t n = 0; n < quartic_size; ++n) t[n] = values[16 * i + n];
    ASSERT_TRUE(finsler4_convex(t, 0)) << "voxel " << i;
  }
}

/// One row of voxels of (2, 3, 4) mm along oblique axes.
tensor_image row_of_voxels(std::uint64_t count) {
  tensor_image image;
  image.size = {count, 1, 1};
  image.axes_mm = {0, -3, 0, 2, 0, 0, 0, 0, 4};
  image.inside.assign(count, 1);
  for (std::uint64_t i = 0; i < count; ++i) image.tensor.insert(image.tensor.end(), {9e-4f, 0, 0, 9e-4f, 0, 3e-4f});
  return image;
}

TEST(QuarticFieldCpu, MeasuresDisplacementsOfTheIndexAsTheNormDoesInTheWorld) {
  const gradient_table g = reference::one_shell(2, 64, 1000);
  const auto r = reference::fitted(two_threads, g, reference::make_signals(g, {{{1, 0, 0}}, {{0, 1, 0}}}));
  tensor_image image = row_of_voxels(1);
  std::copy(r.tensor.begin(), r.tensor.end(), image.tensor.begin());

  const auto f = make_quartic_field(two_threads, image, r.quartic, {}, {}, false);

  const auto values = host_values(*f);
  double t[quartic_size];
  for (std::size_t n = 0; n < quartic_size; ++n) t[n] = values[n];
  for (const auto& [index, world] : {std::pair<std::array<double, 3>, std::array<double, 3>>{{1, 0, 0}, {0, 2, 0}},
                                     {{0, 1, 0}, {-3, 0, 0}},
                                     {{0, 0, 1}, {0, 0, 4}},
                                     {{3, -2, 0}, {6, 6, 0}}}) {
    const double v[3] = {index[0], index[1], index[2]}, mm = std::hypot(world[0], world[1], world[2]);
    const double F4 = r.F4(0, world) * std::pow(mm, 4);
    EXPECT_NEAR(quartic_value(t, v) * f->scale * f->scale / F4, 1, 1e-5);
  }
  const double fastest = host_facts(*f)[0].speed / std::sqrt(f->scale);  // mm over the length in the true metric
  EXPECT_NEAR(std::pow(fastest, -4) / std::min(r.F4(0, {1, 0, 0}), r.F4(0, {0, 1, 0})), 1, 0.02);
}

TEST(QuarticFieldCpu, UsesTheTensorsNormWhereTheQuarticIsInvalid) {
  const tensor_image image = row_of_voxels(4);
  auto norms = norms_of_tensors(image);
  norms[0] = std::nanf("");
  norms[quartic_size + 10] = -norms[quartic_size + 10];
  norms[2 * quartic_size + 4] = INFINITY;

  const auto f = make_quartic_field(two_threads, image, norms, {}, {}, false);

  EXPECT_EQ(f->repaired, 3u);
  const auto values = host_values(*f);
  for (std::size_t k = 0; k < 3 * 16; ++k) EXPECT_NEAR(values[k], values[3 * 16 + k % 16], 1e-5 * values[3 * 16 + 14]);
}

TEST(QuarticFieldCpu, GivesVoxelsOutsideTheirNeighboursNorm) {
  tensor_image image = row_of_voxels(8);
  for (std::size_t i = 1; i < 8; ++i) image.inside[i] = 0;
  const auto norms = norms_of_tensors(image);

  const auto f = make_quartic_field(two_threads, image, norms, {}, {}, false);

  const auto values = host_values(*f);
  for (std::size_t n = 0; n < 16; ++n) {
    for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(values[16 * i + n], values[n]);
    EXPECT_EQ(values[16 * 7 + n], values[16 * 4 + n]);
  }
  // Outside, F is isotropic in the world: 2, 3 and 4 mm.
  EXPECT_NEAR(values[16 * 7 + 10] / values[16 * 7], 81. / 16, 1e-5);
  EXPECT_NEAR(values[16 * 7 + 14] / values[16 * 7], 256. / 16, 1e-5);
  EXPECT_EQ(host_facts(*f)[0].regions, region::inside);
  EXPECT_EQ(host_facts(*f)[1].regions, 0u);
}

TEST(QuarticFieldCpu, GivesTheSameBytesForAnyNumberOfThreads) {
  const tensor_image image = uneven_tensors();
  const auto norms = norms_of_tensors(image);
  const auto one = make_quartic_field({backend::cpu, 1, 0}, image, norms, {}, {}, true);
  const auto three = make_quartic_field({backend::cpu, 3, 0}, image, norms, {}, {}, true);
  EXPECT_EQ(host_values(*one), host_values(*three));
}

TEST(QuarticFieldCpu, RejectsUnsupportedSettings) {
  const tensor_image image = row_of_voxels(3);
  const auto norms = norms_of_tensors(image);
  const auto refused = [&](const preparation& how, std::span<const float> n) {
    EXPECT_THROW(make_quartic_field(two_threads, image, n, {}, how, false), std::invalid_argument);
  };
  refused({metric_kind::power, 2, 0, 0.01}, norms);
  refused({metric_kind::jeong, 2, 0, 0.01}, norms);
  refused({metric_kind::inverse, 1, 0.5, 0.01}, norms);
  refused({}, std::span(norms).first(15));
}

}  // namespace
