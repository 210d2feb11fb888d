#include "tests/tensor/reference/tensor_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "kernels/tensor/tensor_estimator.hpp"

namespace voxherd::reference {

gradient_table two_shells() {
  gradient_table g;
  const auto add = [&](double b, int count) {
    for (int k = 0; k < count; ++k) {
      const double z = count == 1 ? 1 : 1 - 2 * (k + 0.5) / count;
      const double phi = 2 * std::numbers::pi * k / std::numbers::phi, r = std::sqrt(1 - z * z);
      g.x.push_back(b == 0 ? 0 : r * std::cos(phi));
      g.y.push_back(b == 0 ? 0 : r * std::sin(phi));
      g.z.push_back(b == 0 ? 0 : z);
      g.b_s_per_mm2.push_back(b);
    }
  };
  add(0, 4), add(1000, 20), add(2500, 25);
  return g;
}

std::vector<float> uneven_voxels(const gradient_table& g, std::size_t count, bool gradient_deviation) {
  std::mt19937 draw(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<float> rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, 9> deviation{};
    if (gradient_deviation)
      for (double& x : deviation) x = 0.05 * normal(draw);
    double a[3][3];
    for (auto& line : a)
      for (double& x : line) x = 0.02 * normal(draw);
    std::array<double, 6> tensor{};
    for (int k = 0; k < 3; ++k) {
      tensor[0] += a[0][k] * a[0][k], tensor[1] += a[0][k] * a[1][k], tensor[2] += a[0][k] * a[2][k];
      tensor[3] += a[1][k] * a[1][k], tensor[4] += a[1][k] * a[2][k], tensor[5] += a[2][k] * a[2][k];
    }
    const double S0 = std::exp(4 + 4 * uniform(draw));
    for (std::size_t k = 0; k < g.size(); ++k) {
      double y = tensor_signal(g, k, tensor, S0, deviation) + 0.02 * S0 * normal(draw);
      if (i % 16 == 3) y = 0;
      if (i % 16 == 5) y = 7;
      if (i % 16 == 7 && k == 9) y = std::numeric_limits<double>::quiet_NaN();
      if (i % 16 == 9 && k == 0) y = std::numeric_limits<double>::infinity();
      if (i % 16 == 11 && k > 5) y = 0;
      if (i % 16 == 13 && k == 30) y = -3;
      rows.push_back(static_cast<float>(y));
    }
    if (gradient_deviation)
      for (const double x : deviation) rows.push_back(static_cast<float>(x));
  }
  return rows;
}

namespace {

void expect_eigenvector(const std::array<double, 6>& d, double value, const float* v, double tolerance) {
  const double x = v[0], y = v[1], z = v[2];
  EXPECT_NEAR(x * x + y * y + z * z, 1, 1e-6);
  EXPECT_NEAR(d[0] * x + d[1] * y + d[2] * z, value * x, tolerance);
  EXPECT_NEAR(d[1] * x + d[3] * y + d[4] * z, value * y, tolerance);
  EXPECT_NEAR(d[2] * x + d[4] * y + d[5] * z, value * z, tolerance);
}

void expect_voxel(const tensor_solver::outputs& r, std::size_t i, const tensor_voxel& expected) {
  const auto& l = expected.eigenvalues;
  const voxel_status status = l[0] + l[1] + l[2] < 0 ? voxel_status::not_physical : expected.status;
  ASSERT_EQ(r.values<"status">()[i], static_cast<std::uint8_t>(status));
  const double size = std::max(std::fabs(l[0]), std::fabs(l[2]));
  const double tolerance = 1e-6 * size;
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(r.values<"tensor">()[6 * i + c], expected.tensor[c], tolerance);
  EXPECT_NEAR(r.values<"S0">()[i], expected.S0, 1e-6 * expected.S0);
  EXPECT_NEAR(r.values<"residual">()[i], expected.residual, 1e-6 * expected.S0);
  EXPECT_NEAR(r.values<"L1">()[i], l[0], tolerance);
  EXPECT_NEAR(r.values<"L2">()[i], l[1], tolerance);
  EXPECT_NEAR(r.values<"L3">()[i], l[2], tolerance);
  EXPECT_NEAR(r.values<"AD">()[i], l[0], tolerance);
  EXPECT_NEAR(r.values<"RD">()[i], (l[1] + l[2]) / 2, tolerance);
  EXPECT_NEAR(r.values<"MD">()[i], (l[0] + l[1] + l[2]) / 3, tolerance);
  if (expected.status != voxel_status::fitted) {
    EXPECT_EQ(r.values<"FA">()[i], 0);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(r.values<"V1">()[3 * i + c], 0);
    return;
  }
  EXPECT_NEAR(r.values<"FA">()[i], expected.FA, 2e-6);
  expect_eigenvector(expected.tensor, l[0], &r.values<"V1">()[3 * i], 2 * tolerance);
  expect_eigenvector(expected.tensor, l[1], &r.values<"V2">()[3 * i], 2 * tolerance);
  expect_eigenvector(expected.tensor, l[2], &r.values<"V3">()[3 * i], 2 * tolerance);
}

}  // namespace

void expect_equivalent_to_reference(const device& d, const tensor_settings& settings) {
  constexpr std::size_t count = 333;
  const gradient_table g = two_shells();
  const auto rows = uneven_voxels(g, count, settings.gradient_deviation);
  const std::size_t width = rows.size() / count;
  const output_memory<tensor_outputs> results(count);

  use_device(d);
  make_voxelwise_solver(d, tensor_estimator(g, settings))->fit(count, rows.data(), results.arrays());

  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(testing::Message() << "voxel " << i);
    expect_voxel(results.arrays(), i, fit_tensor(g, std::span(rows).subspan(i * width, width), settings));
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_same_bytes_in_both_layouts(const device& d, bool gradient_deviation) {
  constexpr std::size_t count = 301;
  const gradient_table g = two_shells();
  const auto rows = uneven_voxels(g, count, gradient_deviation);
  const std::size_t width = rows.size() / count;
  std::vector<float> columns(rows.size());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < width; ++k) columns[k * count + i] = rows[i * width + k];
  const output_memory<tensor_outputs> from_rows(count), from_columns(count);

  use_device(d);
  const auto solver =
      make_voxelwise_solver(d, tensor_estimator(g, {tensor_weighting::iterated, 2, gradient_deviation}));
  solver->fit(count, columns.data(), input_layout::columns, from_columns.arrays());
  solver->fit(count, rows.data(), input_layout::rows, from_rows.arrays());

  EXPECT_TRUE(from_columns == from_rows);
}

void expect_flags_negative_diffusivity(const device& d) {
  const gradient_table g = two_shells();
  // Mean diffusivities of -1e-4, 1e-4 and -2e-7 mm2/s, each with a positive and a negative eigenvalue.
  const std::vector<std::array<double, 6>> truth{
      {3e-4, 0, 0, -2e-4, 0, -4e-4}, {9e-4, 1e-5, 0, -2e-4, 0, -4e-4}, {3e-4, 0, 2e-5, -2e-4, 0, -1.006e-4}};
  std::vector<float> rows;
  for (const auto& tensor : truth)
    for (std::size_t k = 0; k < g.size(); ++k) rows.push_back(static_cast<float>(tensor_signal(g, k, tensor, 300, {})));
  const output_memory<tensor_outputs> r(truth.size());

  use_device(d);
  make_voxelwise_solver(d, tensor_estimator(g, {}))->fit(truth.size(), rows.data(), r.arrays());

  for (std::size_t i = 0; i < truth.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "voxel " << i);
    const double MD = (truth[i][0] + truth[i][3] + truth[i][5]) / 3;
    EXPECT_EQ(r.values<"status">()[i],
              static_cast<std::uint8_t>(MD < 0 ? voxel_status::not_physical : voxel_status::fitted));
    EXPECT_NEAR(r.values<"MD">()[i], MD, 1e-9);
    EXPECT_NEAR(r.values<"S0">()[i], 300, 1e-3);
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(r.values<"tensor">()[6 * i + c], truth[i][c], 1e-9);
  }
}

}  // namespace voxherd::reference
