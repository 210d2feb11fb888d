#include <gtest/gtest.h>

#include "src/phantom/fibre_scores.hpp"

namespace {

using namespace voxherd;

TEST(ExpectedCoverage, OfFewSamplesIsBelowTheNominalOne) {
  const expected_coverage e = compute_expected_coverage(50);
  EXPECT_NEAR(e.interval90, 0.9 * 49 / 51, 1e-12);
  EXPECT_NEAR(e.cone90, 0.874, 0.006);  // simulated: standard error 0.0024
  EXPECT_NEAR(e.cone50, 0.485, 0.009);
}

TEST(ExpectedCoverage, OfManySamplesIsTheNominalOne) {
  const expected_coverage e = compute_expected_coverage(1000);
  EXPECT_NEAR(e.interval90, 0.9, 0.002);
  EXPECT_NEAR(e.cone90, 0.9, 0.008);
  EXPECT_NEAR(e.cone50, 0.5, 0.012);
}

}  // namespace
