#include "kernels/tensor_field/field.hpp"

#include <gtest/gtest.h>

#include "tests/geodesic/reference/geodesic_field_case.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using reference::expect_coefficients_equivalent_to_reference;
using reference::expect_field_equivalent_to_reference;

class GeodesicFieldCuda : public gpu_test {};

TEST_F(GeodesicFieldCuda, EveryMetricIsEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel}) {
    expect_field_equivalent_to_reference(gpu, {metric_kind::inverse, 1, 0, 0.01}, kind);
    expect_field_equivalent_to_reference(gpu, {metric_kind::adjugate, 1, 0, 0.01}, kind);
    expect_field_equivalent_to_reference(gpu, {metric_kind::power, 3, 0, 0.01}, kind);
    expect_field_equivalent_to_reference(gpu, {metric_kind::jeong, 2, 0, 0.01}, kind);
  }
}

TEST_F(GeodesicFieldCuda, SmoothingIsEquivalentToReference) {
  expect_field_equivalent_to_reference(gpu, {metric_kind::inverse, 1, 1, 0.01}, field_kind::tensor);
  expect_field_equivalent_to_reference(gpu, {metric_kind::inverse, 1, 0.6, 0.01}, field_kind::christoffel);
  expect_field_equivalent_to_reference(gpu, {metric_kind::adjugate, 1, 2, 0.01}, field_kind::world);
}

TEST_F(GeodesicFieldCuda, CoefficientsAreEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel})
    expect_coefficients_equivalent_to_reference(gpu, kind);
}

TEST_F(GeodesicFieldCuda, HasTheSameScaleCountAndRegionsAsTheCpu) {
  const auto image = reference::uneven_tensors();
  const auto words = reference::uneven_regions(image.inside.size());
  const device cpu{backend::cpu, 2, 0};
  for (const auto metric : {metric_kind::inverse, metric_kind::adjugate, metric_kind::power, metric_kind::jeong}) {
    const preparation how{metric, 2, 0, 0.01};
    use_device(gpu);
    const auto there = make_field(gpu, image, words, how, field_kind::tensor, true);
    const auto here = make_field(cpu, image, words, how, field_kind::tensor, true);

    EXPECT_EQ(there->scale, here->scale);
    EXPECT_EQ(there->repaired, here->repaired);
    const auto a = host_facts(*there), b = host_facts(*here);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].regions, b[i].regions);
    EXPECT_GT(there->seconds, 0);
  }
}

TEST_F(GeodesicFieldCuda, GivesTheSameBytesEveryTime) {
  const auto image = reference::uneven_tensors();
  use_device(gpu);
  const preparation how{metric_kind::jeong, 2, 0.7, 0.01};
  const auto one = host_values(*make_field(gpu, image, {}, how, field_kind::christoffel, true));
  EXPECT_EQ(one, host_values(*make_field(gpu, image, {}, how, field_kind::christoffel, true)));
}

}  // namespace
