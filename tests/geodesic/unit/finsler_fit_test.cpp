#include "kernels/tensor/quartic_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

#include "kernels/tensor_field/finsler4.hpp"
#include "tests/geodesic/reference/finsler_case.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using reference::fitted;
using reference::make_signals;
using reference::one_shell;

constexpr std::array<double, 3> x_axis{1, 0, 0}, y_axis{0, 1, 0}, z_axis{0, 0, 1}, diagonal{1, 1, 0},
    other_diagonal{1, -1, 0};

double along(const float* tensor, const std::array<double, 3>& u) {
  const double d[6] = {tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]};
  const double size = std::hypot(u[0], u[1], u[2]), v[3] = {u[0] / size, u[1] / size, u[2] / size};
  return quadratic(d, v);
}

TEST(FinslerFitCpu, IsEquivalentToReference) { reference::expect_norms_equivalent_to_reference(two_threads); }

TEST(FinslerFitCpu, GivesTheTensorsNormForASingleTensorsSignal) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double b : {1000., 3000.}) {
    const gradient_table g = one_shell(2, 40, b);
    for (int repeat = 0; repeat < 20; ++repeat) {
      double a[9], d[6] = {3e-4, 0, 0, 3e-4, 0, 3e-4};
      for (double& x : a) x = 0.012 * normal(random);  // diffusivities of up to 2e-3 mm2/s
      const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
      for (int p = 0; p < 6; ++p)
        for (int k = 0; k < 3; ++k) d[p] += a[3 * first[p] + k] * a[3 * second[p] + k];
      std::vector<float> row;
      for (std::size_t k = 0; k < g.size(); ++k) {
        const double v[3] = {g.x[k], g.y[k], g.z[k]};
        row.push_back(static_cast<float>(900 * std::exp(-g.b_s_per_mm2[k] * quadratic(d, v))));
      }

      const auto r = fitted(two_threads, g, row);

      ASSERT_EQ(r.status[0], 0);
      EXPECT_EQ(r.mixed[0], 0);
      for (const auto& u : {x_axis, y_axis, z_axis, diagonal, {0.3, -0.5, 0.8}}) {
        const double size = std::hypot(u[0], u[1], u[2]), v[3] = {u[0] / size, u[1] / size, u[2] / size};
        double gv[3];
        solve(d, v, gv);
        // Signals in float have errors of 6e-8, ADCs of 1e-6 where little is left of the signal.
        EXPECT_NEAR(std::sqrt(r.F4(0, u)) / dot(v, gv), 1, 2e-5);
      }
    }
  }
}

TEST(FinslerFitCpu, IsSmallAlongBothOfTwoFibresAtRightAngles) {
  for (const auto& [directions, b] : {std::pair{32, 1000.}, {64, 1000.}, {64, 3000.}}) {
    const gradient_table g = one_shell(2, directions, b);
    const auto r = fitted(two_threads, g, make_signals(g, {{x_axis}, {y_axis}}));

    // The tensor's metric is isotropic in the plane.
    EXPECT_NEAR(along(r.tensor.data(), x_axis) / along(r.tensor.data(), diagonal), 1, 0.02);
    EXPECT_NEAR(along(r.tensor.data(), y_axis) / along(r.tensor.data(), diagonal), 1, 0.02);
    const double between = std::min(r.F4(0, diagonal), r.F4(0, other_diagonal));
    for (const auto& fibre : {x_axis, y_axis}) {
      EXPECT_LT(r.F4(0, fibre), 0.62 * between);
      EXPECT_GT(r.F4(0, fibre), 0.5 * between);  // the limit of convexity
    }
    EXPECT_GT(r.F4(0, z_axis), 3 * between);
  }
}

TEST(FinslerFitCpu, IsSmallAlongBothOfTwoFibresThatCrossAt70Degrees) {
  const gradient_table g = one_shell(2, 64, 2000);
  const double half = 35 * std::numbers::pi / 180;
  const std::array<double, 3> up{std::cos(half), std::sin(half), 0}, down{std::cos(half), -std::sin(half), 0};

  const auto r = fitted(two_threads, g, make_signals(g, {{up}, {down}}));

  EXPECT_GT(along(r.tensor.data(), x_axis), 1.1 * along(r.tensor.data(), up));  // the tensor points between them
  EXPECT_LT(r.F4(0, up), 0.9 * r.F4(0, x_axis));
  EXPECT_LT(r.F4(0, down), 0.9 * r.F4(0, x_axis));
}

TEST(FinslerFitCpu, RotatesWithTheGradients) {
  const gradient_table g = one_shell(2, 45, 1500);
  const double c = std::cos(0.6), s = std::sin(0.6);
  const std::array<double, 9> frame{c, -s, 0, 0.8 * s, 0.8 * c, -0.6, 0.6 * s, 0.6 * c, 0.8};
  gradient_table turned = g;
  for (std::size_t k = 0; k < g.size(); ++k) {
    turned.x[k] = frame[0] * g.x[k] + frame[1] * g.y[k] + frame[2] * g.z[k];
    turned.y[k] = frame[3] * g.x[k] + frame[4] * g.y[k] + frame[5] * g.z[k];
    turned.z[k] = frame[6] * g.x[k] + frame[7] * g.y[k] + frame[8] * g.z[k];
  }
  // Convex without mixing: the directions used to test convexity do not rotate.
  std::vector<float> row = make_signals(g, {{x_axis, 1e-3, 0.5e-3}, {{0, 0.8, 0.6}, 1e-3, 0.5e-3}});

  auto here = fitted(two_threads, g, row);
  const auto there = fitted(two_threads, turned, row);
  rotate_quartics(frame, here.quartic);

  ASSERT_EQ(here.mixed[0], 0);
  for (std::size_t n = 0; n < quartic_size; ++n) EXPECT_NEAR(here.quartic[n], there.quartic[n], 1e-3 * here.quartic[0]);
}

TEST(FinslerFitCpu, IsConvexInEveryVoxel) {
  for (const auto& [directions, b] : {std::pair{32, 1000.}, {64, 3000.}}) {
    const gradient_table g = one_shell(2, directions, b);
    constexpr std::size_t count = 300;
    const auto r = fitted(two_threads, g, reference::uneven_crossings(g, count));

    std::size_t mixed = 0, good = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (r.status[i] != 0) {
        for (std::size_t n = 0; n < quartic_size; ++n) ASSERT_EQ(r.quartic[quartic_size * i + n], 0);
        continue;
      }
      // Scaled, so that only a margin of 0 is required.
      double t[quartic_size];
      for (std::size_t n = 0; n < quartic_size; ++n) t[n] = r.quartic[quartic_size * i + n];
      EXPECT_TRUE(finsler4_convex(t, 0)) << "voxel " << i;
      ++good, mixed += r.mixed[i] > 0;
    }
    EXPECT_GT(good, count / 2);
    EXPECT_GT(mixed, 0u);
    EXPECT_LT(mixed, good);
  }
}

TEST(FinslerFitCpu, IsTheTensorsNormUnderEndlessRegularisation) {
  const gradient_table g = one_shell(2, 32, 1000);
  quartic_settings s;
  s.regularisation = 1e12;
  const auto r = fitted(two_threads, g, make_signals(g, {{x_axis}, {y_axis}}), s);

  const double d[6] = {r.tensor[0], r.tensor[1], r.tensor[2], r.tensor[3], r.tensor[4], r.tensor[5]};
  for (const auto& u : {x_axis, {0, 0.6, 0.8}}) {
    const double v[3] = {u[0], u[1], u[2]};
    double gv[3];
    solve(d, v, gv);
    EXPECT_NEAR(std::sqrt(r.F4(0, u)) / dot(v, gv), 1, 1e-5);
  }
}

TEST(FinslerFitCpu, GivesTheSameBytesForAnyNumberOfThreads) {
  const gradient_table g = one_shell(2, 32, 1000);
  const auto rows = reference::uneven_crossings(g, 300);

  const auto one = fitted({backend::cpu, 1, 0}, g, rows), three = fitted({backend::cpu, 3, 0}, g, rows);

  EXPECT_EQ(one.quartic, three.quartic);
  EXPECT_EQ(one.mixed, three.mixed);
  EXPECT_EQ(one.status, three.status);
}

TEST(FinslerFit, NeedsFifteenDirectionsAtTheLargerB) {
  EXPECT_TRUE(determines_quartic(one_shell(1, 15, 1000), {}));
  EXPECT_FALSE(determines_quartic(one_shell(1, 14, 1000), {}));
  gradient_table g = one_shell(1, 30, 1000);
  for (std::size_t k = 5; k < g.size(); ++k) g.b_s_per_mm2[k] = 300;
  EXPECT_FALSE(determines_quartic(g, {}));
  EXPECT_THROW(quartic_estimator(g, {}), std::invalid_argument);
  quartic_settings s;
  s.convexity = 1;
  EXPECT_THROW(quartic_estimator(one_shell(1, 30, 1000), s), std::invalid_argument);
}

}  // namespace
