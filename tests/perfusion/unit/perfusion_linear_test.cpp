#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/perfusion/linear_fitter.hpp"
#include "kernels/perfusion/recursion_model.hpp"

namespace voxherd::perfusion {
namespace {

static_assert(std::is_trivially_copyable_v<linear_fitter<dual_model, double>>);

constexpr int frames_per_voxel = 40;

/// A bolus and its later, broader response at uneven times.
time_course course() {
  time_course t;
  double now = 3;
  for (int i = 0; i < frames_per_voxel; ++i) {
    const double s = now - 3, after_a = std::max(s - 4, 0.0), after_p = std::max(s - 12, 0.0);
    t.time_s.push_back(now);
    t.arterial.push_back(after_a * std::exp(-after_a / 6) + 0.6 * (1 - std::exp(-after_a / 10)));
    t.portal.push_back(0.15 * after_p * std::exp(-after_p / 15) + 0.5 * (1 - std::exp(-after_p / 20)));
    t.counts.push_back(1);
    now += 1.5 + i % 3;
  }
  return t;
}

fit_settings settings(bool bounded) {
  fit_settings s;
  s.bounded = bounded;
  s.rules[tau_a].start = 1.3;
  s.rules[tau_p].start = 2.2;
  return s;
}

void fix(parameter_rule& rule, double value) {
  rule.start = value;
  rule.fixed = true;
}

/// An input's integral, by a sum of a million trapezoids.
double slow_integral(const time_course& t, const std::vector<double>& curve, double until) {
  const double begin = 2 * t.time_s[0] - t.time_s[1];
  const auto value = [&](double s) {
    if (s >= t.time_s.back()) return curve.back();
    if (s < t.time_s[0]) return curve[0] * (s - begin) / (t.time_s[0] - begin);
    std::size_t j = 0;
    while (t.time_s[j + 1] <= s) ++j;
    return curve[j] + (curve[j + 1] - curve[j]) * (s - t.time_s[j]) / (t.time_s[j + 1] - t.time_s[j]);
  };
  if (until <= begin) return 0;
  constexpr int pieces = 20000;
  const double width = (until - begin) / pieces;
  double sum = 0;
  for (int i = 0; i < pieces; ++i) sum += width * (value(begin + i * width) + value(begin + (i + 1) * width)) / 2;
  return sum;
}

/// The fit's equations as a matrix, one row per counted frame: columns kl, ka, kp, and the concentration.
std::vector<std::array<double, 4>> equations(const time_course& t, const linear_view& v, const std::vector<float>& y) {
  std::vector<std::array<double, 4>> rows;
  std::vector<double> time = {t.time_s[0]}, c = {0};
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (t.counts[i] == 0) continue;
    time.push_back(t.time_s[i]);
    c.push_back(static_cast<double>(y[i]));
    double sum = 0;
    for (std::size_t j = 1; j < c.size(); ++j) sum += (time[j] - time[j - 1]) * (c[j] + c[j - 1]) / 2;
    rows.push_back({-sum, v.integral[0][i], v.integral[1][i], c.back()});
  }
  return rows;
}

double squared_error(const std::vector<std::array<double, 4>>& rows, const double* p) {
  double sum = 0;
  for (const auto& r : rows) sum += std::pow(r[3] - r[0] * p[kl] - r[1] * p[ka] - r[2] * p[kp], 2);
  return sum;
}

/// Half of the derivative of the sum of squares, and its expected rounding error.
void slope(const std::vector<std::array<double, 4>>& rows, const double* p, std::size_t a, double& value,
           double& size) {
  value = size = 0;
  for (const auto& r : rows) {
    value += r[a] * (r[0] * p[kl] + r[1] * p[ka] + r[2] * p[kp] - r[3]);
    size += std::fabs(r[a]) * (std::fabs(r[0] * p[kl]) + std::fabs(r[1] * p[ka]) + std::fabs(r[2] * p[kp]));
  }
}

/// Concentrations that satisfy the equations to the last digit of a float.
std::vector<float> obedient(const time_course& t, const linear_view& v, const double (&p)[3]) {
  std::vector<float> y;
  double sum = 0, before = 0, time = t.time_s[0];
  for (std::size_t i = 0; i < t.frames(); ++i) {
    const double half = (t.time_s[i] - time) / 2;
    const double c =
        (p[ka] * v.integral[0][i] + p[kp] * v.integral[1][i] - p[kl] * (sum + half * before)) / (1 + p[kl] * half);
    y.push_back(static_cast<float>(c));
    sum += half * (before + c);
    before = c;
    time = t.time_s[i];
  }
  return y;
}

linear_fit<dual_model, double> fit(const time_course& t, const fit_settings& s, const std::vector<float>& y) {
  const linear_table table(t, {s.rules[tau_a].start, s.rules[tau_p].start});
  return linear_fitter<dual_model, double>(table.view(), s)({y.data(), 1});
}

const double true_flows[3] = {0.07, 0.004, 0.016};  // 420, 24, 96 ml/100 g/min

TEST(PerfusionLinear, IntegratesDelayedInputs) {
  const time_course t = course();
  for (const double tau : {0.0, 1.3, 7.0, -4.4, 500.0}) {
    const linear_table table(t, {tau, tau + 2});
    for (std::size_t i = 0; i < t.frames(); i += 3) {
      const double s = t.time_s[i] - tau;
      // 20000 trapezoids of 0.005 s, a kink in 40 of them
      EXPECT_NEAR(table.view().integral[0][i], slow_integral(t, t.arterial, s), 1e-4) << tau << " " << i;
      EXPECT_NEAR(table.view().integral[1][i], slow_integral(t, t.portal, s - 2), 1e-4) << tau << " " << i;
    }
  }
}

TEST(PerfusionLinear, RecoversTheTruthOfCurvesThatSatisfyIt) {
  const time_course t = course();
  for (const bool bounded : {false, true}) {
    const auto s = settings(bounded);
    const linear_table table(t, {1.3, 2.2});
    const auto f = fit(t, s, obedient(t, table.view(), true_flows));
    EXPECT_FALSE(f.degenerate);
    for (const int a : {kl, ka, kp}) EXPECT_NEAR(f.p[a] / true_flows[a], 1, 2e-5) << a;
    EXPECT_EQ(f.p[tau_a], 1.3);
    EXPECT_EQ(f.p[tau_p], 2.2);
    EXPECT_NEAR(f.sum_of_squares, 0, 1e-10);
  }
}

/// The trapezoid rule's error for the model's own curve, with inputs known between frames.
TEST(PerfusionLinear, ApproachesTheModelWithTheSquareOfTheInterval) {
  double before = 0;
  for (const int per_s : {1, 2, 4}) {
    time_course t;
    for (int i = 0; i <= 90 * per_s; ++i) {
      const double s = static_cast<double>(i) / per_s;
      t.time_s.push_back(s);
      // Corners only at whole seconds
      t.arterial.push_back(s < 5 ? 0 : s < 10 ? s - 5 : s < 20 ? 15 - s : -5 + 0.05 * (s - 20));
      t.portal.push_back(s < 15 ? 0 : s < 30 ? 0.1 * (s - 15) : 1.5 - 0.01 * (s - 30));
      t.counts.push_back(1);
    }
    const auto s = settings(false);
    const curves_table<double> curves(t);
    const double p[dual_parameters] = {true_flows[kl], true_flows[ka], true_flows[kp], 1.3, 2.2};
    std::vector<float> y;
    recursion_model<dual_model, double, discretisation_kind::exact>(curves.view()).curve(p, [&](int, double c) {
      y.push_back(static_cast<float>(c));
    });
    const double error = std::fabs(fit(t, s, y).p[kl] / true_flows[kl] - 1);
    if (per_s == 1) {
      EXPECT_LT(error, 2e-3);
    } else {
      EXPECT_NEAR(before / error, 4, 0.6) << per_s;
    }
    before = error;
  }
}

TEST(PerfusionLinear, RespectsFixedParameters) {
  const time_course t = course();
  const linear_table table(t, {1.3, 2.2});
  for (const int fixed : {kl, ka, kp})
    for (const double value : {0.0, true_flows[fixed]}) {
      double p[3] = {true_flows[0], true_flows[1], true_flows[2]};
      p[fixed] = value;
      auto s = settings(false);
      fix(s.rules[static_cast<std::size_t>(fixed)], value);
      const auto f = fit(t, s, obedient(t, table.view(), p));
      EXPECT_EQ(f.p[fixed], value);
      for (const int a : {kl, ka, kp}) EXPECT_NEAR(f.p[a], p[a], 2e-5 * true_flows[a]) << fixed << " " << a;
    }
}

/// At the minimum of the sum of squares the slope is zero, or points out of the bound that the parameter is at.
TEST(PerfusionLinear, IsTheLeastSquaresWithNoiseFreeOrBounded) {
  time_course t = course();
  t.counts[0] = t.counts[9] = t.counts[17] = t.counts[18] = 0;
  const linear_table table(t, {1.3, 2.2});
  std::mt19937_64 draw(1);
  int at_bounds = 0, below_zero = 0;
  for (int voxel = 0; voxel < 300; ++voxel) {
    auto y = obedient(t, table.view(), true_flows);
    for (float& c : y) c += static_cast<float>(std::normal_distribution<>(0, 0.01 * (voxel % 10))(draw));
    y[9] = std::numeric_limits<float>::quiet_NaN();
    const auto rows = equations(t, table.view(), y);
    for (const bool bounded : {false, true}) {
      auto s = settings(bounded);
      s.rules[kl].most = 0.08;
      s.rules[ka].most = 0.006;
      const auto f = fit(t, s, y);
      ASSERT_FALSE(f.degenerate);
      EXPECT_NEAR(f.sum_of_squares / squared_error(rows, f.p), 1, 1e-10);
      for (std::size_t a = 0; a < 3; ++a) {
        double value, size;
        slope(rows, f.p, a, value, size);
        const bool least = bounded && f.p[a] == s.rules[a].least, most = bounded && f.p[a] == s.rules[a].most;
        at_bounds += least || most ? 1 : 0;
        below_zero += f.p[a] < 0 ? 1 : 0;
        if (least) {
          EXPECT_GE(value, -1e-10 * size) << voxel << " " << a;
        } else if (most) {
          EXPECT_LE(value, 1e-10 * size) << voxel << " " << a;
        } else {
          EXPECT_NEAR(value, 0, 1e-10 * size) << voxel << " " << a;
        }
        if (bounded) {
          EXPECT_GE(f.p[a], s.rules[a].least);
          EXPECT_LE(f.p[a], s.rules[a].most);
        }
      }
    }
  }
  EXPECT_GT(at_bounds, 50);
  EXPECT_GT(below_zero, 10);
}

TEST(PerfusionLinear, ReportsIdenticalInputs) {
  time_course t = course();
  t.portal = t.arterial;
  for (double& c : t.portal) c *= 0.7;
  auto s = settings(true);
  s.rules[tau_p].start = s.rules[tau_a].start;
  const linear_table table(t, {1.3, 1.3});
  const auto y = obedient(t, table.view(), true_flows);
  const auto f = fit(t, s, y);
  EXPECT_TRUE(f.degenerate);
  for (const int a : {kl, ka, kp}) EXPECT_EQ(f.p[a], 0);
  fix(s.rules[kp], 0.001);
  EXPECT_FALSE(fit(t, s, y).degenerate);
}

TEST(PerfusionLinear, EveryLaneHasTheResultOfASingleVoxel) {
  using lanes = lane::double_lanes;
  constexpr int count = static_cast<int>(lanes::size());
  const time_course t = course();
  const auto s = settings(true);
  const linear_table table(t, {1.3, 2.2});
  std::mt19937_64 draw(2);
  std::vector<float> side_by_side(static_cast<std::size_t>(frames_per_voxel * count));
  std::vector<std::vector<float>> single;
  for (int l = 0; l < count; ++l) {
    const double p[3] = {true_flows[0] * (1 + 0.1 * l), true_flows[1] * (l % 3), true_flows[2]};
    single.push_back(obedient(t, table.view(), p));
    for (float& c : single.back()) c += static_cast<float>(std::normal_distribution<>(0, 0.03)(draw));
    if (l == 1) single.back().assign(frames_per_voxel, 0);
    for (int i = 0; i < frames_per_voxel; ++i)
      side_by_side[static_cast<std::size_t>(i * count + l)] = single.back()[static_cast<std::size_t>(i)];
  }
  const auto f = linear_fitter<dual_model, lanes>(table.view(), s)({side_by_side.data(), count});
  for (int l = 0; l < count; ++l) {
    const auto alone = fit(t, s, single[static_cast<std::size_t>(l)]);
    EXPECT_EQ(lane::get(f.degenerate, l), alone.degenerate) << l;
    EXPECT_EQ(alone.degenerate, l == 1);
    for (int a = 0; a < dual_parameters; ++a)
      EXPECT_NEAR(lane::get(f.p[a], l), alone.p[a], 1e-9 * (std::fabs(alone.p[a]) + 1e-3)) << l << " " << a;
    EXPECT_NEAR(lane::get(f.sum_of_squares, l), alone.sum_of_squares, 1e-9 * alone.sum_of_squares) << l;
  }
}

}  // namespace
}  // namespace voxherd::perfusion
