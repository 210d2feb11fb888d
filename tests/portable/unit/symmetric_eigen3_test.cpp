#include "kernels/portable/symmetric_eigen3.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using voxherd::symmetric_eigen3;

template <class T>
double largest_residual(const T (&m)[6], const voxherd::eigen_system3<T>& e) {
  const double full[3][3] = {{double(m[0]), double(m[1]), double(m[2])},
                             {double(m[1]), double(m[3]), double(m[4])},
                             {double(m[2]), double(m[4]), double(m[5])}};
  double worst = 0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) {
      double r = -double(e.value[k]) * double(e.vector[k][i]);
      for (int j = 0; j < 3; ++j) r += full[i][j] * double(e.vector[k][j]);
      worst = std::max(worst, std::fabs(r));
    }
  return worst;
}

template <class T>
double worst_loss_of_orthogonality(const voxherd::eigen_system3<T>& e) {
  double worst = 0;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      double dot = a == b ? -1 : 0;
      for (int i = 0; i < 3; ++i) dot += double(e.vector[a][i]) * double(e.vector[b][i]);
      worst = std::max(worst, std::fabs(dot));
    }
  return worst;
}

template <class T>
class SymmetricEigen3 : public testing::Test {};
using element_types = testing::Types<float, double>;
TYPED_TEST_SUITE(SymmetricEigen3, element_types);

TYPED_TEST(SymmetricEigen3, SatisfiesItsEquationForRandomMatrices) {
  std::mt19937 draw(7);
  std::normal_distribution<double> normal;
  const double eps = std::numeric_limits<TypeParam>::epsilon();
  for (int trial = 0; trial < 2000; ++trial) {
    TypeParam m[6];
    for (auto& x : m) x = TypeParam(1e-3 * normal(draw));
    const auto e = symmetric_eigen3(m[0], m[1], m[2], m[3], m[4], m[5]);
    const double scale = std::max(std::fabs(double(e.value[0])), std::fabs(double(e.value[2])));
    ASSERT_LE(largest_residual(m, e), 16 * eps * scale);
    ASSERT_LE(worst_loss_of_orthogonality(e), 16 * eps);
    ASSERT_GE(e.value[0], e.value[1]);
    ASSERT_GE(e.value[1], e.value[2]);
  }
}

TYPED_TEST(SymmetricEigen3, FindsHandComputedValues) {
  // [[2,1,0],[1,2,0],[0,0,5]] has eigenvalues 5, 3, 1
  const auto e = symmetric_eigen3<TypeParam>(2, 1, 0, 2, 0, 5);
  const double tolerance = 8 * std::numeric_limits<TypeParam>::epsilon();
  EXPECT_NEAR(e.value[0], 5, 5 * tolerance);
  EXPECT_NEAR(e.value[1], 3, 3 * tolerance);
  EXPECT_NEAR(e.value[2], 1, 3 * tolerance);
  EXPECT_NEAR(std::fabs(e.vector[0][2]), 1, tolerance);
  EXPECT_NEAR(std::fabs(e.vector[1][0] + e.vector[1][1]), std::sqrt(2.0), 4 * tolerance);
}

TYPED_TEST(SymmetricEigen3, KeepsVectorsOrthogonalWhenEigenvaluesAreEqual) {
  const double eps = std::numeric_limits<TypeParam>::epsilon();
  EXPECT_LE(worst_loss_of_orthogonality(symmetric_eigen3<TypeParam>(0, 0, 0, 0, 0, 0)), 4 * eps);
  EXPECT_LE(worst_loss_of_orthogonality(symmetric_eigen3<TypeParam>(1, 1, 1, 1, 1, 1)), 8 * eps);  // rank 1
  EXPECT_LE(worst_loss_of_orthogonality(symmetric_eigen3<TypeParam>(1, TypeParam(1e-30), 0, 1, 0, 1)), 8 * eps);
}

TYPED_TEST(SymmetricEigen3, PassesNaNOn) {
  const auto e = symmetric_eigen3<TypeParam>(1, std::numeric_limits<TypeParam>::quiet_NaN(), 0, 1, 0, 1);
  EXPECT_TRUE(std::isnan(e.value[0]) || std::isnan(e.value[1]) || std::isnan(e.value[2]));
}

}  // namespace
