#include <gtest/gtest.h>

#include <cmath>

#include "tests/geodesic/reference/finsler_case.hpp"
#include "tests/geodesic/reference/geodesic_field_case.hpp"
#include "tests/geodesic/reference/quartic_field_case.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;

class FinslerCuda : public gpu_test {
 protected:
  const device cpu{backend::cpu, 2, 0};
};

TEST_F(FinslerCuda, FitIsEquivalentToReference) { reference::expect_norms_equivalent_to_reference(gpu); }

TEST_F(FinslerCuda, FitAgreesWithTheCpu) {
  for (const auto& [directions, b] : {std::pair{32, 1000.}, {64, 3000.}}) {
    const gradient_table g = reference::one_shell(2, directions, b);
    constexpr std::size_t count = 3000;
    const auto rows = reference::uneven_crossings(g, count);

    const auto there = reference::fitted(gpu, g, rows), here = reference::fitted(cpu, g, rows);

    EXPECT_EQ(there.status, here.status);
    std::size_t otherwise_mixed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // A mixture just at the limit may round to the next 256th.
      if (there.mixed[i] != here.mixed[i]) {
        EXPECT_NEAR(there.mixed[i], here.mixed[i], 1.01 / 256);
        ++otherwise_mixed;
        continue;
      }
      float largest = 0;
      for (std::size_t n = 0; n < 15; ++n) largest = std::max(largest, std::fabs(here.quartic[15 * i + n]));
      for (std::size_t n = 0; n < 15; ++n)
        EXPECT_NEAR(there.quartic[15 * i + n], here.quartic[15 * i + n], 1e-6f * largest) << "voxel " << i;
    }
    EXPECT_LE(otherwise_mixed, count / 1000);
  }
}

TEST_F(FinslerCuda, FieldOfTensorsIsTheirMetric) {
  reference::expect_quartic_field_of_tensors_to_be_their_metric(gpu, metric_kind::inverse);
  reference::expect_quartic_field_of_tensors_to_be_their_metric(gpu, metric_kind::adjugate);
}

TEST_F(FinslerCuda, CoefficientsAreEquivalentToReference) {
  reference::expect_quartic_coefficients_equivalent_to_reference(gpu);
}

TEST_F(FinslerCuda, FieldAgreesWithTheCpu) {
  const tensor_image image = reference::uneven_tensors();
  const auto norms = reference::norms_of_tensors(image);
  use_device(gpu);

  const auto there = make_quartic_field(gpu, image, norms, {}, {}, false);
  const auto here = make_quartic_field(cpu, image, norms, {}, {}, false);

  EXPECT_EQ(there->scale, here->scale);
  EXPECT_EQ(there->repaired, here->repaired);
  EXPECT_GT(there->seconds, 0);
  const auto a = host_values(*there), b = host_values(*here);
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    float largest = 0;
    for (std::size_t n = 0; n < 15; ++n) largest = std::max(largest, std::fabs(b[16 * i + n]));
    for (std::size_t n = 0; n < 15; ++n) EXPECT_NEAR(a[16 * i + n], b[16 * i + n], 3e-5f * largest) << "voxel " << i;
  }
}

}  // namespace
