#include "core/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

TEST(number_text, is_the_shortest_that_reads_back) {
  EXPECT_EQ(voxherd::number_text(0.1), "0.1");
  EXPECT_EQ(voxherd::number_text(-3), "-3");
}

TEST(number_text, has_no_sign_of_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(voxherd::number_text(nan), "nan");
  EXPECT_EQ(voxherd::number_text(std::copysign(nan, -1.0)), "nan");
  EXPECT_EQ(voxherd::number_text(std::copysign(nan, -1.0), "n/a"), "n/a");
}
