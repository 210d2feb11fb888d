#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/perfusion/t1_fitter.hpp"
#include "kernels/portable/output_arrays.hpp"

namespace voxherd::perfusion {
namespace {

static_assert(std::is_trivially_copyable_v<t1_fitter>);

conversion series(double TR, const std::vector<double>& degrees) {
  conversion c;
  c.t1_repetition_s = TR;
  c.flip_angles = static_cast<int>(degrees.size());
  for (std::size_t i = 0; i < degrees.size(); ++i) c.t1_flip_rad[i] = degrees[i] * (std::numbers::pi / 180);
  return c;
}

/// The textbook equation, as printed, divided by M0.
double relative_ernst(double TR, double a, double T1) {
  const double E = std::exp(-TR / T1);
  return std::sin(a) * (1 - E) / (1 - E * std::cos(a));
}

std::vector<double> signals(const conversion& c, double M0, double T1) {
  std::vector<double> s;
  for (int i = 0; i < c.flip_angles; ++i)
    s.push_back(M0 * relative_ernst(c.t1_repetition_s, c.t1_flip_rad[static_cast<std::size_t>(i)], T1));
  return s;
}

t1_fit fit(const conversion& c, const std::vector<double>& s) { return t1_fitter(c)(s.data()); }

void expect_nothing(const t1_fit& f) {
  EXPECT_FALSE(f.found);
  EXPECT_EQ(f.t1_s, 0);
  EXPECT_EQ(f.M0, 0);
}

/// Smallest sum of squares over a dense grid of T1 within the bounds, with the best M0 for each.
struct dense_minimum {
  static constexpr int points = 3000;
  double cost = std::numeric_limits<double>::max();
  int place = 0;  ///< of the grid

  dense_minimum(const conversion& c, const std::vector<double>& s) {
    for (int k = 0; k <= points; ++k) {
      const double here = cost_at(c, s, 0.01 * std::pow(1000.0, static_cast<double>(k) / points));
      if (here >= cost) continue;
      cost = here;
      place = k;
    }
  }

  static double cost_at(const conversion& c, const std::vector<double>& s, double T1) {
    double gs = 0, gg = 0, sum = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double g = relative_ernst(c.t1_repetition_s, c.t1_flip_rad[i], T1);
      gs += g * s[i];
      gg += g * g;
    }
    for (std::size_t i = 0; i < s.size(); ++i)
      sum += std::pow(s[i] - gs / gg * relative_ernst(c.t1_repetition_s, c.t1_flip_rad[i], T1), 2);
    return sum;
  }
};

TEST(PerfusionT1, IsTheTruthWithoutNoise) {
  for (const auto& c : {series(0.004, {2, 10, 20}), series(0.005, {3, 15}), series(0.015, {2, 5, 10, 15, 20, 30, 60})})
    for (const double T1 : {0.02, 0.1, 0.4, 0.8, 1.6, 4.0, 9.0}) {
      const auto found = fit(c, signals(c, 3000, T1));
      ASSERT_TRUE(found.found) << T1;
      EXPECT_NEAR(found.t1_s / T1, 1, 1e-10) << T1;
      EXPECT_NEAR(found.M0 / 3000, 1, 1e-10) << T1;
      EXPECT_NEAR(found.sum_of_squares, 0, 1e-18 * 3000 * 3000) << T1;
    }
}

TEST(PerfusionT1, ReadsFloatsWithAStride) {
  const conversion c = series(0.004, {2, 10, 20});
  std::vector<float> row(7, -5);
  const auto s = signals(c, 900, 0.7);
  for (std::size_t i = 0; i < 3; ++i) row[3 * i] = static_cast<float>(s[i]);
  EXPECT_NEAR(t1_fitter(c)(signal_row{row.data(), 3}).t1_s, 0.7, 1e-6);
}

/// Noise of 1 to 30 % of the largest signal: the fit is as good as the best of a dense grid, and if the best is at a
/// bound there is no T1.
TEST(PerfusionT1, IsTheLeastSquaresOfADenseSearchWithNoise) {
  std::mt19937_64 draw(5);
  int found_ones = 0, none = 0;
  for (const auto& c : {series(0.004, {2, 10, 20}), series(0.015, {2, 5, 10, 15, 20, 30})})
    for (const double noise : {0.01, 0.1, 0.3})
      for (int voxel = 0; voxel < 100; ++voxel) {
        auto s = signals(c, 1000, std::exp(std::uniform_real_distribution<>(std::log(0.2), std::log(3.0))(draw)));
        double largest = 0;
        for (const double x : s) largest = std::max(largest, x);
        for (double& x : s) x += std::normal_distribution<>(0, noise * largest)(draw);
        const dense_minimum best(c, s);
        const auto f = fit(c, s);
        if (f.found) {
          EXPECT_LE(f.sum_of_squares, best.cost * (1 + 1e-9)) << voxel << " T1 " << f.t1_s;
          EXPECT_NEAR(f.sum_of_squares / dense_minimum::cost_at(c, s, f.t1_s), 1, 1e-6);
          ++found_ones;
        } else {
          EXPECT_TRUE(best.place == 0 || best.place == dense_minimum::points) << voxel << " at " << best.place;
          ++none;
        }
      }
  EXPECT_GT(found_ones, 500);
  EXPECT_GT(none, 0);
}

TEST(PerfusionT1, DoesNotExistBeyondItsBounds) {
  const conversion c = series(0.004, {2, 10, 20});
  expect_nothing(fit(c, signals(c, 1000, 0.005)));
  expect_nothing(fit(c, signals(c, 1000, 20)));
  EXPECT_TRUE(fit(c, signals(c, 1000, 0.011)).found);
  EXPECT_TRUE(fit(c, signals(c, 1000, 9.9)).found);
}

TEST(PerfusionT1, DoesNotExistWithoutSignal) {
  const conversion c = series(0.004, {2, 10, 20});
  expect_nothing(fit(c, {0, 0, 0}));
  auto negative = signals(c, -1000, 0.8);
  expect_nothing(fit(c, negative));
}

}  // namespace
}  // namespace voxherd::perfusion
