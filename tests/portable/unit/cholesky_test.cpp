#include "kernels/portable/cholesky.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using voxherd::cholesky_factor;
using voxherd::cholesky_solve;
using voxherd::packed_index;
using voxherd::packed_size;

TEST(Cholesky, FactorsAHandComputedMatrix) {
  double a[packed_size(2)] = {4, 2, 10};  // [[4,2],[2,10]] = L L^T, L = [[2,0],[1,3]]
  ASSERT_TRUE(cholesky_factor<2>(a));
  EXPECT_DOUBLE_EQ(a[0], 1.0 / 2);
  EXPECT_DOUBLE_EQ(a[1], 1);
  EXPECT_DOUBLE_EQ(a[2], 1.0 / 3);
}

TEST(Cholesky, SolvesRandomPositiveDefiniteSystems) {
  constexpr int n = 7;
  std::mt19937 draw(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    double root[n][n], expected[n], a[packed_size(n)], x[n];
    for (auto& row : root)
      for (double& value : row) value = normal(draw);
    for (double& value : expected) value = normal(draw);
    double full[n][n];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        full[i][j] = i == j ? 1 : 0;
        for (int k = 0; k < n; ++k) full[i][j] += root[i][k] * root[j][k];
      }
    for (int i = 0; i < n; ++i) {
      x[i] = 0;
      for (int j = 0; j < n; ++j) x[i] += full[i][j] * expected[j];
      for (int j = 0; j <= i; ++j) a[packed_index(i, j)] = full[i][j];
    }
    ASSERT_TRUE(cholesky_factor<n>(a));
    cholesky_solve<n>(a, x);
    for (int i = 0; i < n; ++i) ASSERT_NEAR(x[i], expected[i], 1e-11);
  }
}

TEST(Cholesky, RejectsMatricesThatAreNotPositiveDefinite) {
  double singular[packed_size(2)] = {1, 1, 1};
  EXPECT_FALSE(cholesky_factor<2>(singular));
  double indefinite[packed_size(2)] = {1, 2, 1};
  EXPECT_FALSE(cholesky_factor<2>(indefinite));
  double broken[packed_size(2)] = {1, NAN, 1};
  EXPECT_FALSE(cholesky_factor<2>(broken));
}

}  // namespace
