#include "tests/perfusion/reference/perfusion_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/portable/voxel_status.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_map_checks.hpp"
#include "tests/perfusion/reference/perfusion_reference_fit.hpp"
#include "tests/perfusion/reference/perfusion_reference_linear.hpp"
#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"

namespace voxherd::reference {

using namespace perfusion;

namespace {

constexpr std::size_t missing[] = {9, 30, 47};

time_course difficult_inputs(frame_times times) {
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

perfusion_case difficult_voxels(frame_times times) {
  perfusion_case c;
  c.frames = difficult_inputs(times);
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
  s.max_iterations = 600;
  if (solver == solver_kind::lm || solver == solver_kind::varpro)
    s.relative_tolerance = precision == precision_kind::float64 ? 1e-12 : 1e-7;
  return s;
}

void expect_minima(const perfusion_case& c, const fit_settings& s, const perfusion_run& run, double excess) {
  std::size_t fitted = 0, kinks = 0;
  double gain_at_kinks = 0;
  for (std::size_t v = 0; v < c.count; ++v) {
    if (run.status[v] != 0) continue;
    const auto p = run.parameters(v);
    const double cost = perfusion_cost(c.frames, s.discretisation, p, c.samples(v));
    const double least = polish(c.frames, s.discretisation, s.rules, c.samples(v), p).cost;
    const bool kink = s.discretisation == discretisation_kind::paper && is_near_frame(c.frames, p);
    ++fitted;
    kinks += kink ? 1 : 0;
    if (kink) gain_at_kinks = std::fmax(gain_at_kinks, cost / least - 1);
    if (!kink) {
      EXPECT_LE(cost, (1 + excess) * least) << "voxel " << v << ", exit " << int(run.exit_code[v]);
    }
  }
  EXPECT_GT(fitted, kinks);
  testing::Test::RecordProperty("ended_at_kinks", std::to_string(kinks) + " of " + std::to_string(fitted));
  testing::Test::RecordProperty("max_remaining_gain", std::to_string(gain_at_kinks));
}

void expect_simplex_of_reference(const perfusion_case& c, const fit_settings& s, const perfusion_run& run) {
  simplex_rules rules;
  perfusion_parameters start{};
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = s.rules[i].start, rules.fixed[i] = s.rules[i].fixed;
  std::size_t fitted = 0, same = 0;
  for (std::size_t v = 0; v < c.count; v += 2) {
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
    // The squares of nearly parallel columns (condition number 1e3) in double, then a float's rounding.
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], expected[i], 1e-6 * std::fmax(std::fabs(expected[i]), paper_start()[i])) << "voxel " << v;
  }
}

void expect_equivalent_to_reference(const device& d, const fit_settings& s, frame_times times) {
  const perfusion_case c = difficult_voxels(times);
  const perfusion_run run(d, c.frames, c.rows, s);
  expect_maps_of_reference(c, s, run);
  if (testing::Test::HasFatalFailure()) return;
  const bool single = s.precision == precision_kind::float32;
  // In float a cost of 45 residuals, each the difference of two values rounded at the size of the peak (30 times the
  // noise), has a relative error of 1e-5: a descent cannot resolve less.
  if (s.solver == solver_kind::lm || s.solver == solver_kind::varpro) expect_minima(c, s, run, single ? 1e-5 : 1e-9);
  if (s.solver == solver_kind::simplex && !single) expect_simplex_of_reference(c, s, run);
  if (s.solver == solver_kind::linear) expect_linear_of_reference(c, s, run);
}

std::vector<fit_variant> every_way_to_fit() {
  const auto paper = [](fit_settings s, convolution_kind convolution = convolution_kind::recursion) {
    s.discretisation = discretisation_kind::paper;
    s.convolution = convolution;
    return s;
  };
  const fit_settings lm = quality_settings(solver_kind::lm), varpro = quality_settings(solver_kind::varpro);
  const fit_settings lm32 = quality_settings(solver_kind::lm, precision_kind::float32);
  const fit_settings simplex = quality_settings(solver_kind::simplex);
  const fit_settings simplex32 = quality_settings(solver_kind::simplex, precision_kind::float32);
  fit_settings three_starts = lm, delayed = quality_settings(solver_kind::linear), one_input = varpro;
  three_starts.starts = 3;
  delayed.rules[tau_a].start = 3.3, delayed.rules[tau_p].start = -1.4;
  for (const dual_parameter i : {kp, tau_p}) one_input.rules[i].fixed = true, one_input.rules[i].start = 0;
  constexpr auto even = frame_times::even, uneven = frame_times::uneven;
  return {{"lm", lm, even},
          {"lm_from_three_starts", three_starts, even},
          {"lm_of_paper_curves", paper(lm), even},
          {"lm_of_uneven_frames", lm, uneven},
          {"lm_in_single_precision", lm32, even},
          {"lm_of_paper_curves_in_single_precision", paper(lm32), even},
          {"varpro", varpro, even},
          {"varpro_of_paper_curves", paper(varpro), even},
          {"varpro_of_uneven_frames", varpro, uneven},
          {"varpro_of_one_input", one_input, even},
          {"simplex", simplex, even},
          {"simplex_of_uneven_frames", simplex, uneven},
          {"simplex_of_paper_curves", paper(simplex), even},
          {"simplex_by_direct_sum", paper(simplex, convolution_kind::direct), even},
          {"simplex_by_block_fft", paper(simplex, convolution_kind::block_fft), even},
          {"simplex_in_single_precision", simplex32, even},
          {"simplex_of_paper_curves_in_single_precision", paper(simplex32), even},
          {"linear", quality_settings(solver_kind::linear), even},
          {"linear_with_delays", delayed, even},
          {"linear_of_uneven_frames", quality_settings(solver_kind::linear), uneven}};
}

}  // namespace voxherd::reference
