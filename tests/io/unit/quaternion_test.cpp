#include "src/io/nifti/quaternion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace voxherd {
namespace {

double largest_difference(const voxel_matrix& a, const voxel_matrix& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(Quaternion, OfRotationsByHandGivesTheirMatrices) {
  const double half = std::sqrt(0.5);
  // A quarter turn about z takes x to y and y to -x.
  const voxel_matrix quarter = {0, -3, 0, 10, 2, 0, 0, 20, 0, 0, 4, 30, 0, 0, 0, 1};
  EXPECT_LT(largest_difference(to_matrix({{0, 0, half}, {10, 20, 30}, {2, 3, 4}}), quarter), 1e-14);
  const voxel_matrix reversed = {0, -3, 0, 10, 2, 0, 0, 20, 0, 0, -4, 30, 0, 0, 0, 1};
  EXPECT_LT(largest_difference(to_matrix({{0, 0, half}, {10, 20, 30}, {2, 3, 4}, -1}), reversed), 1e-14);
  // Half a turn about y, slightly longer than a unit quaternion, as floats store it.
  const voxel_matrix half_turn = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1};
  EXPECT_LT(largest_difference(to_matrix({{0, 1 + 1e-7, 0}}), half_turn), 1e-14);
}

TEST(Quaternion, OfAMatrixGivesTheMatrixBack) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    double q[4], sum = 0;
    for (double& number : q) number = normal(engine);
    if (i % 3 == 0) q[0] *= 1e-6;  // nearly half a turn
    for (const double number : q) sum += number * number;
    const double scale = (q[0] < 0 ? -1 : 1) / std::sqrt(sum);
    const quaternion_form form{
        {q[1] * scale, q[2] * scale, q[3] * scale}, {1, -2, 3}, {1, 2.5, 0.7}, i % 2 == 0 ? 1.0 : -1.0};
    const voxel_matrix m = to_matrix(form);
    const quaternion_form found = to_quaternion(m);
    EXPECT_LT(largest_difference(to_matrix(found), m), 1e-5) << i;
    EXPECT_EQ(found.qfac, form.qfac) << i;
    EXPECT_LT(largest_difference(product(inverse(m), m), to_matrix({})), 1e-14) << i;
  }
}

TEST(Quaternion, OfAShearedMatrixIsTheNearestRotation) {
  // Both axes of a shear turn by the same angle, half of the angle between them.
  const double shear = 0.2;
  const quaternion_form form =
      to_quaternion({1, std::sin(shear), 0, 0, 0, std::cos(shear), 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  EXPECT_NEAR(form.bcd[2], -std::sin(shear / 4), 1e-9);
  EXPECT_NEAR(form.sizes[1], 1, 1e-14);
}

}  // namespace
}  // namespace voxherd
