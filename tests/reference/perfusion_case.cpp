#include "tests/reference/perfusion_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/portable/voxel_status.hpp"
#include "tests/reference/perfusion_data.hpp"
#include "tests/reference/perfusion_reference_fit.hpp"
#include "tests/reference/perfusion_reference_linear.hpp"
#include "tests/reference/perfusion_reference_simplex.hpp"

namespace voxherd::reference {

using namespace perfusion;

namespace {

constexpr std::size_t missing[] = {9, 30, 47};

time_course uneasy_inputs(frame_times times) {
  time_course f;
  for (std::size_t i = 0; i < 48; ++i) {
    const double even = 2.37 * static_cast<double>(i);
    const double t = times == frame_times::even ? even : i < 20 ? static_cast<double>(i) : 19 + 4.1 * (double(i) - 19);
    const double early = std::fmax(t - 6, 0), late = std::fmax(t - 12, 0);
    f.time_s.push_back(t);
    f.arterial.push_back(0.05 + 6 * std::pow(early / 7, 2) * std::exp(2 - 2 * early / 7) + early / (early + 40));
    f.portal.push_back(0.02 + 1.4 * std::pow(late / 14, 2) * std::exp(2 - 2 * late / 14) + 0.8 * late / (late + 30));
    f.counts.push_back(1);
  }
  for (const std::size_t i : missing) f.counts[i] = 0;
  return f;
}

}  // namespace

std::vector<double> perfusion_case::samples(std::size_t voxel) const {
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(voxel * frames.frames());
  std::vector<double> y(first, first + static_cast<std::ptrdiff_t>(frames.frames()));
  for (std::size_t i = 0; i < y.size(); ++i)
    if (frames.counts[i] == 0) y[i] = 0;
  return y;
}

perfusion_case uneasy_voxels(frame_times times) {
  perfusion_case c;
  c.frames = uneasy_inputs(times);
  c.count = 333;
  std::mt19937 draw(20120814);
  std::normal_distribution<double> normal;
  const auto uniform = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(draw); };
  for (std::size_t v = 0; v < c.count; ++v) {
    perfusion_parameters p = kernel_units({0, uniform(10, 120), uniform(20, 200), uniform(0.3, 5), uniform(0.3, 4)});
    p[kl] = (p[ka] + p[kp]) / uniform(0.15, 0.45);
    auto y = exact_curve(c.frames, p);
    const double sd = *std::max_element(y.begin(), y.end()) / 30;
    for (double& sample : y) sample += sd * normal(draw);
    if (v % 16 == 3) std::fill(y.begin(), y.end(), 0.);
    if (v % 16 == 5) std::fill(y.begin(), y.end(), 0.25);
    if (v % 16 == 7) y[20] = std::numeric_limits<double>::quiet_NaN();
    if (v % 16 == 9) y[0] = -std::numeric_limits<double>::infinity();
    if (v % 16 == 11) y[missing[1]] = std::numeric_limits<double>::quiet_NaN();
    if (v % 16 == 13) y[missing[0]] = 1e30;
    for (const double sample : y) c.rows.push_back(static_cast<float>(sample));
  }
  return c;
}

std::uint8_t expected_status(std::size_t voxel) {
  const std::size_t kind = voxel % 16;
  const auto status = kind == 3                ? voxel_status::all_zero
                      : kind == 5              ? voxel_status::constant
                      : kind == 7 || kind == 9 ? voxel_status::not_finite
                                               : voxel_status::fitted;
  return static_cast<std::uint8_t>(status);
}

fit_settings quality_settings(solver_kind solver, precision_kind precision) {
  fit_settings s = standard_settings(solver);
  s.precision = precision;
  s.most_iterations = 600;
  if (solver == solver_kind::lm || solver == solver_kind::varpro)
    s.relative_tolerance = precision == precision_kind::float64 ? 1e-12 : 1e-7;
  return s;
}

namespace {

bool near_whole_frame(const time_course& f, const perfusion_parameters& p) {
  if (f.spacing_s() == 0) return false;
  const double a = p[tau_a] / f.spacing_s(), b = p[tau_p] / f.spacing_s();
  return std::fabs(a - std::round(a)) < 1e-3 || std::fabs(b - std::round(b)) < 1e-3;
}

/// Everything a map can be compared with at the place where a fit ended.
class judged_by_reference {
 public:
  judged_by_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run, std::size_t v)
      : c_(c), s_(s), run_(run), v_(v), p_(run.parameters(v)), y_(c.samples(v)) {
    cost_ = perfusion_cost(c.frames, s.discretisation, p_, y_);
  }

  void compare() const {
    const bool single = s_.precision == precision_kind::float32;
    // A residual is a difference of two numbers of the peak's size: their roundings, over CNR 30.
    if (cost_ > 1e38) return;  // a linear fit's growth, beyond a map's floats
    const double cost_error = (single ? 2e-4 : 1e-5) + rounding_of_place() / cost_;
    EXPECT_NEAR(run_.map(sum_of_squares, v_), cost_, cost_error * cost_);
    double mean = 0, about = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) mean += counts(i) * y_[i] / static_cast<double>(c_.frames.counted());
    for (std::size_t i = 0; i < y_.size(); ++i) about += counts(i) * (y_[i] - mean) * (y_[i] - mean);
    EXPECT_NEAR(run_.map(r_squared, v_), 1 - cost_ / about, cost_error * cost_ / about + 1e-6);
    compare_derived();
    compare_bounds();
    // A float's column of J has as many roundings as there are frames, an element of J'J two columns; five elements a
    // row, and half of it for the root. In double it is the place that is rounded, to a map's float.
    if (!at_kink() && !far()) compare_deviations(single ? 2 * 48 * 6e-8 * 5 / 2 : 1e-9, cost_error);
  }

 private:
  double counts(std::size_t i) const { return c_.frames.counts[i]; }

  void compare_derived() const {
    const double a = p_[ka] * perfusion::per_second, p = p_[kp] * perfusion::per_second, flow = a + p;
    const double rounding = 3e-7 * (std::fabs(a) + std::fabs(p));
    EXPECT_NEAR(run_.map(total_perfusion, v_), flow, rounding);
    if (std::fabs(flow) > 1e-3) {
      EXPECT_NEAR(run_.map(arterial_fraction, v_), a / flow, rounding / std::fabs(flow) * (1 + std::fabs(a / flow)));
    }
    EXPECT_NEAR(run_.map(distribution_volume, v_) * p_[kl] * perfusion::per_second, flow, rounding);
    EXPECT_NEAR(run_.map(mean_transit_time, v_) * p_[kl], 1, 3e-7);
    EXPECT_EQ(run_.map(t1_before, v_), 0);
    EXPECT_EQ(run_.map(baseline_signal, v_), 0);
  }

  /// Bounds and places are floats of other units: at a bound means within a rounding of it.
  bool at_bound(std::size_t i) const {
    const auto& r = s_.rules[i];
    return s_.bounded && !r.fixed && (p_[i] <= r.least * (1 + 1e-7) || p_[i] >= r.most * (1 - 1e-7));
  }

  void compare_bounds() const {
    for (std::size_t i = 0; i < parameter_count; ++i) EXPECT_EQ(run_.at_bound[v_] >> i & 1, at_bound(i)) << i;
  }

  /// What rounding the place to a map's floats does to the cost, away from a minimum.
  double rounding_of_place() const {
    const auto jacobian = perfusion_jacobian(c_.frames, s_.discretisation, p_);
    const auto curve = perfusion_curve(c_.frames, s_.discretisation, p_);
    double change = 0;
    for (std::size_t i = 0; i < parameter_count; ++i) {
      double slope = 0;
      for (std::size_t f = 0; f < y_.size(); ++f) slope += counts(f) * jacobian[i][f] * (y_[f] - curve[f]);
      change += std::fabs(2 * slope * 1.2e-7 * p_[i]);
    }
    return change;
  }

  /// The paper's curve has no derivative by a delay of whole frames.
  bool at_kink() const { return s_.discretisation == discretisation_kind::paper && near_whole_frame(c_.frames, p_); }

  /// A delay beyond the series' length is taken as that length: its derivative means nothing.
  bool far() const {
    const double length = c_.frames.time_s.back() - c_.frames.time_s.front();
    return std::fabs(p_[tau_a]) >= length || std::fabs(p_[tau_p]) >= length;
  }

  /// Rounding of J'J grows by the largest inflation of a variance, (J'J)_ii (J'J)^-1_ii.
  void compare_deviations(double rounding, double cost_error) const {
    std::array<bool, parameter_count> held{};
    for (std::size_t i = 0; i < parameter_count; ++i) held[i] = s_.rules[i].fixed || at_bound(i);
    // A flow of zero leaves its delay without influence.
    held[tau_a] = held[tau_a] || p_[ka] == 0;
    held[tau_p] = held[tau_p] || p_[kp] == 0;
    const auto expected = map_units(standard_deviations(c_.frames, s_.discretisation, p_, cost_, held));
    const auto inverse = inverse_information(c_.frames, s_.discretisation, p_, held);
    const auto jacobian = perfusion_jacobian(c_.frames, s_.discretisation, p_);
    double inflation = 1;
    for (std::size_t i = 0; i < parameter_count; ++i) {
      double length = 0;
      for (std::size_t f = 0; f < y_.size(); ++f) length += counts(f) * jacobian[i][f] * jacobian[i][f];
      if (!held[i]) inflation = std::fmax(inflation, length * inverse[i][i]);
    }
    // No information on one of them is none on all: a curve that follows an input at once has no kl.
    for (const double e : expected)
      if (!std::isfinite(e)) return;
    const auto sd = run_.deviations(v_);
    for (std::size_t i = 0; i < parameter_count; ++i) {
      if (held[i]) {
        EXPECT_EQ(sd[i], 0) << i;
      } else if (rounding * inflation < 0.1) {
        EXPECT_NEAR(sd[i], expected[i], (rounding * inflation + cost_error) * expected[i])
            << i << ", inflation " << inflation;
      }
    }
  }

  const perfusion_case& c_;
  const fit_settings& s_;
  const perfusion_run& run_;
  std::size_t v_;
  perfusion_parameters p_;
  std::vector<double> y_;
  double cost_;
};

void expect_nothing(const perfusion_run& run, std::size_t v) {
  for (const auto& map : run.maps) EXPECT_EQ(map[v], 0);
  EXPECT_EQ(run.iterations[v], 0U);
  EXPECT_EQ(run.at_bound[v], 0);
}

}  // namespace

void expect_judged_as_by_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run) {
  for (std::size_t v = 0; v < c.count; ++v) {
    SCOPED_TRACE(testing::Message() << "voxel " << v);
    ASSERT_EQ(run.status[v], expected_status(v));
    if (run.status[v] != 0)
      expect_nothing(run, v);
    else
      judged_by_reference(c, s, run, v).compare();
    if (testing::Test::HasFailure()) return;
  }
}

void expect_minima(const perfusion_case& c, const fit_settings& s, const perfusion_run& run, double excess) {
  std::size_t fitted = 0, kinks = 0;
  double gain_at_kinks = 0;
  for (std::size_t v = 0; v < c.count; ++v) {
    if (run.status[v] != 0) continue;
    const auto p = run.parameters(v);
    const double cost = perfusion_cost(c.frames, s.discretisation, p, c.samples(v));
    const double least = polish(c.frames, s.discretisation, s.rules, c.samples(v), p).cost;
    const bool kink = s.discretisation == discretisation_kind::paper && near_whole_frame(c.frames, p);
    ++fitted;
    kinks += kink ? 1 : 0;
    if (kink) gain_at_kinks = std::fmax(gain_at_kinks, cost / least - 1);
    if (!kink) {
      EXPECT_LE(cost, (1 + excess) * least) << "voxel " << v << ", exit " << int(run.exit_code[v]);
    }
  }
  EXPECT_GT(fitted, kinks);
  testing::Test::RecordProperty("ended_at_kinks", std::to_string(kinks) + " of " + std::to_string(fitted));
  testing::Test::RecordProperty("most_to_gain_there", std::to_string(gain_at_kinks));
}

void expect_simplex_of_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run) {
  simplex_rules rules;
  perfusion_parameters start{};
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = s.rules[i].start, rules.fixed[i] = s.rules[i].fixed;
  std::size_t fitted = 0, same = 0;
  for (std::size_t v = 0; v < c.count; ++v) {
    if (run.status[v] != 0) continue;
    const auto y = c.samples(v);
    const auto cost = [&](const perfusion_parameters& p) { return perfusion_cost(c.frames, s.discretisation, p, y); };
    const auto expected = nelder_mead(cost, start, rules);
    ++fitted;
    EXPECT_EQ(run.exit_code[v] == 0, run.iterations[v] < 600U) << "voxel " << v;
    if (static_cast<int>(run.iterations[v]) != expected.iterations) continue;
    ++same;
    const auto p = run.parameters(v);
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], expected.best[i], 1e-5 * std::fmax(std::fabs(expected.best[i]), start[i])) << "voxel " << v;
  }
  EXPECT_GE(static_cast<double>(same), 0.985 * static_cast<double>(fitted)) << same << " of " << fitted;
}

void expect_linear_of_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run) {
  perfusion_parameters given{};
  std::array<bool, 3> fixed{};
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = s.rules[i].start;
  for (std::size_t i = 0; i < fixed.size(); ++i) fixed[i] = s.rules[i].fixed;
  for (std::size_t v = 0; v < c.count; ++v) {
    if (run.status[v] != 0) continue;
    const auto expected = murase_fit(c.frames, c.samples(v), given, fixed);
    const auto p = run.parameters(v);
    // The squares of nearly parallel columns (condition 1e3) in double, then a float's rounding.
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], expected[i], 1e-6 * std::fmax(std::fabs(expected[i]), paper_start()[i])) << "voxel " << v;
  }
}

void expect_equivalent_to_reference(const device& d, const fit_settings& s, frame_times times) {
  const perfusion_case c = uneasy_voxels(times);
  const perfusion_run run(d, c.frames, c.rows, s);
  expect_judged_as_by_reference(c, s, run);
  if (testing::Test::HasFatalFailure()) return;
  const bool single = s.precision == precision_kind::float32;
  // In floats a cost of 45 residuals, each a difference with a rounding of the peak (30 times the noise), is known to
  // 1e-5 of itself: a descent cannot see less.
  if (s.solver == solver_kind::lm || s.solver == solver_kind::varpro) expect_minima(c, s, run, single ? 1e-5 : 1e-9);
  if (s.solver == solver_kind::simplex && !single) expect_simplex_of_reference(c, s, run);
  if (s.solver == solver_kind::linear) expect_linear_of_reference(c, s, run);
}

}  // namespace voxherd::reference
