#include "kernels/portable/double_math.hpp"

#include <gtest/gtest.h>

namespace {

using voxherd::lane::double_lanes;

double of_first_lane(double_lanes x) { return x[0]; }

TEST(DoubleMath, ExponentialMatchesTheLibrary) {
  for (double x = -690; x < 5; x += 0.0917)
    EXPECT_NEAR(of_first_lane(voxherd::lane::exp(double_lanes(x))), std::exp(x), 2e-14 * std::exp(x)) << x;
}

TEST(DoubleMath, ExponentialVanishesFarBelow) {
  EXPECT_LT(of_first_lane(voxherd::lane::exp(double_lanes(-1e6))), 1e-300);
  EXPECT_GE(of_first_lane(voxherd::lane::exp(double_lanes(-1e6))), 0);
}

TEST(DoubleMath, LogarithmMatchesTheLibrary) {
  for (double x = 1e-12; x < 1e12; x *= 1.093)
    EXPECT_NEAR(of_first_lane(voxherd::lane::log(double_lanes(x))), std::log(x), 4e-16 * (1 + std::abs(std::log(x))))
        << x;
}

TEST(DoubleMath, Log1pKeepsItsDigitsForSmallArguments) {
  for (double x = 1e-18; x < 1e6; x *= 1.29)
    EXPECT_NEAR(of_first_lane(voxherd::lane::log1p(double_lanes(x))), std::log1p(x), 1e-15 * std::log1p(x)) << x;
}

}  // namespace
