#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/tensor/tensor_estimator.hpp"
#include "tests/support/devices.hpp"
#include "tests/tensor/reference/tensor_case.hpp"

namespace {

using namespace voxherd;
using reference::expect_equivalent_to_reference;

TEST(TensorCpu, OrdinaryFitIsEquivalentToReference) {
  expect_equivalent_to_reference(two_threads, {tensor_weighting::ordinary, 2, false});
}

TEST(TensorCpu, WeightedFitIsEquivalentToReference) {
  expect_equivalent_to_reference(two_threads, {tensor_weighting::weighted, 2, false});
}

TEST(TensorCpu, IteratedFitIsEquivalentToReference) {
  expect_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 2, false});
  expect_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 3, false});
}

TEST(TensorCpu, FitWithGradientDeviationIsEquivalentToReference) {
  expect_equivalent_to_reference(two_threads, {tensor_weighting::iterated, 2, true});
}

TEST(TensorCpu, FlagsNegativeMeanDiffusivityAndKeepsTheValues) {
  reference::expect_flags_negative_diffusivity(two_threads);
}

TEST(TensorCpu, RowsAndColumnsGiveTheSameBytes) {
  for (const bool deviation : {false, true}) reference::expect_same_bytes_in_both_layouts(two_threads, deviation);
}

TEST(TensorCpu, RecoversATensorFromNoiseFreeSignals) {
  const gradient_table g = reference::two_shells();
  const std::array<double, 6> truth{1.1e-3, 2e-4, -1e-4, 7e-4, 5e-5, 4e-4};
  const std::array<double, 9> deviation{0.03, -0.01, 0.02, 0.0, -0.04, 0.01, 0.02, 0.01, 0.05};
  std::vector<float> row;
  for (std::size_t k = 0; k < g.size(); ++k)
    row.push_back(static_cast<float>(reference::tensor_signal(g, k, truth, 500, deviation)));
  row.insert(row.end(), deviation.begin(), deviation.end());
  const output_memory<tensor_outputs> r(1);

  make_voxelwise_solver(two_threads, tensor_estimator(g, {tensor_weighting::iterated, 2, true}))
      ->fit(1, row.data(), r.arrays());

  EXPECT_EQ(r.values<"status">()[0], 0);
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(r.values<"tensor">()[c], truth[c], 1e-9);
  EXPECT_NEAR(r.values<"S0">()[0], 500, 1e-3);
  EXPECT_NEAR(r.values<"residual">()[0], 0, 1e-4);
}

TEST(TensorCpu, ZeroGradientDeviationChangesNothing) {
  const gradient_table g = reference::two_shells();
  constexpr std::size_t count = 40;
  const auto plain = reference::uneven_voxels(g, count, false);
  std::vector<float> bent;
  for (std::size_t i = 0; i < count; ++i) {
    bent.insert(bent.end(), plain.begin() + std::ptrdiff_t(i * g.size()),
                plain.begin() + std::ptrdiff_t((i + 1) * g.size()));
    bent.insert(bent.end(), 9, 0.f);
  }
  const output_memory<tensor_outputs> a(count), b(count);

  make_voxelwise_solver(two_threads, tensor_estimator(g, {tensor_weighting::iterated, 2, false}))
      ->fit(count, plain.data(), a.arrays());
  make_voxelwise_solver(two_threads, tensor_estimator(g, {tensor_weighting::iterated, 2, true}))
      ->fit(count, bent.data(), b.arrays());

  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(a.values<"status">()[i], b.values<"status">()[i]) << i;
  for (std::size_t i = 0; i < 6 * count; ++i) EXPECT_FLOAT_EQ(a.values<"tensor">()[i], b.values<"tensor">()[i]);
}

TEST(TensorCpu, GivesTheSameBytesForAnyNumberOfThreads) {
  const gradient_table g = reference::two_shells();
  constexpr std::size_t count = 500;
  const auto rows = reference::uneven_voxels(g, count, false);
  const output_memory<tensor_outputs> one(count), three(count);

  make_voxelwise_solver({backend::cpu, 1, 0}, tensor_estimator(g, {}))->fit(count, rows.data(), one.arrays());
  make_voxelwise_solver({backend::cpu, 3, 0}, tensor_estimator(g, {}))->fit(count, rows.data(), three.arrays());

  EXPECT_TRUE(one == three);
}

TEST(TensorCpu, FlagsFitsThatDiverge) {
  const gradient_table g = reference::two_shells();
  constexpr std::size_t count = 200;
  auto rows = reference::uneven_voxels(g, count, false);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i % 4 == 1) rows[i] = -rows[i];
  const output_memory<tensor_outputs> r(count);

  make_voxelwise_solver(two_threads, tensor_estimator(g, {}))->fit(count, rows.data(), r.arrays());

  int flagged = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = rows.begin() + std::ptrdiff_t(i * g.size());
    if (r.values<"status">()[i] == std::uint8_t(voxel_status::diverged)) {
      ++flagged;
      EXPECT_EQ(r.values<"FA">()[i], 0);
      EXPECT_EQ(r.values<"S0">()[i], 0);
    }
    if (r.values<"status">()[i] == 0) {
      EXPECT_LE(r.values<"residual">()[i], *std::max_element(first, first + std::ptrdiff_t(g.size())));
    }
  }
  EXPECT_GT(flagged, 0);
}

TEST(TensorDesign, NeedsSixDirectionsThatAreNotOnOnePlane) {
  EXPECT_TRUE(determines_tensor(reference::two_shells()));

  gradient_table flat = reference::two_shells();
  for (std::size_t k = 4; k < flat.size(); ++k) {
    flat.x[k] = std::cos(double(k)), flat.y[k] = std::sin(double(k)), flat.z[k] = 0;
  }
  EXPECT_FALSE(determines_tensor(flat));

  gradient_table five = reference::two_shells();
  for (auto* column : {&five.x, &five.y, &five.z, &five.b_s_per_mm2}) column->resize(9);
  EXPECT_FALSE(determines_tensor(five));

  gradient_table without_b0 = reference::two_shells();
  for (std::size_t k = 0; k < without_b0.size(); ++k) {
    without_b0.b_s_per_mm2[k] = 1000;
    if (k < 4) without_b0.z[k] = 1;
  }
  EXPECT_FALSE(determines_tensor(without_b0));
}

}  // namespace
