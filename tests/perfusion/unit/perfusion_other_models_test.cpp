#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/perfusion/cpu_fitter.hpp"
#include "tests/perfusion/reference/perfusion_reference.hpp"
#include "tests/perfusion/support/other_models.hpp"

/// A model that the program does not have: its header is all that the engine needs.
namespace voxherd::perfusion {
namespace {

time_course bolus(bool even) {
  time_course f;
  for (int i = 0; i < 60; ++i) {
    const double t = even ? 2.5 * i : i < 30 ? 2.0 * i : 58 + 3.7 * (i - 29);
    const double early = std::fmax(t - 9, 0), late = std::fmax(t - 16, 0);
    f.time_s.push_back(t);
    f.arterial.push_back(6 * std::pow(early / 7, 2) * std::exp(2 - 2 * early / 7) + early / (early + 40));
    f.portal.push_back(1.4 * std::pow(late / 14, 2) * std::exp(2 - 2 * late / 14) + 0.8 * late / (late + 30));
    f.counts.push_back(i == 12 ? 0 : 1);
  }
  return f;
}

struct tofts_truth {
  double Ktrans, ve, delay_s;  ///< ml/100 g/min
};

std::vector<tofts_truth> truths() {
  std::vector<tofts_truth> all;
  for (int i = 0; i < 19; ++i) all.push_back({12 + 9.0 * i, 0.12 + 0.02 * (i % 7), 0.4 + 0.6 * (i % 11)});
  return all;
}

/// From the integral in closed form, which shares no code with the fit.
std::vector<float> tofts_rows(const time_course& f, const std::vector<tofts_truth>& voxels) {
  std::vector<float> rows;
  for (const tofts_truth& v : voxels)
    for (const double t : f.time_s) {
      const double k = v.Ktrans / per_second;
      rows.push_back(static_cast<float>(k * reference::convolved_input(f, f.arterial, k / v.ve, t - v.delay_s)));
    }
  return rows;
}

template <class Number>
void expect_truth(const fit_settings& s, bool even, double tolerance) {
  const auto voxels = truths();
  const time_course f = bolus(even);
  const auto rows = tofts_rows(f, voxels);
  output_memory<model_outputs<tofts_model>> out(voxels.size());
  cpu_fitter<tofts_model, Number>({}, f, {}, s).fit(voxels.size(), rows.data(), out.arrays().array);
  for (std::size_t v = 0; v < voxels.size(); ++v) {
    ASSERT_EQ(out.values<"status">()[v], 0) << v;
    EXPECT_NEAR(out.values<"Ktrans">()[v], voxels[v].Ktrans, tolerance * voxels[v].Ktrans) << v;
    EXPECT_NEAR(out.values<"ve">()[v], voxels[v].ve, tolerance * voxels[v].ve) << v;
    EXPECT_NEAR(out.values<"delay">()[v], voxels[v].delay_s, tolerance * 10) << v;
    EXPECT_NEAR(out.values<"kep">()[v], voxels[v].Ktrans / voxels[v].ve,
                3 * tolerance * voxels[v].Ktrans / voxels[v].ve)
        << v;
    EXPECT_GT(out.values<"sd_ve">()[v], 0) << v;
    EXPECT_EQ(out.values<"at_bound">()[v], 0) << v;
  }
}

fit_settings tofts_settings(solver_kind solver) {
  fit_settings s = standard_settings(solver, info_of<tofts_model>);
  s.starts = 2;
  if (solver == solver_kind::lm) s.relative_tolerance = 1e-10;
  if (solver == solver_kind::simplex) s.absolute_tolerance = 1e-14;
  return s;
}

TEST(PerfusionOtherModels, ToftsFromAHeaderRecoversItsParameters) {
  for (const bool even : {true, false}) {
    expect_truth<lane::double_lanes>(tofts_settings(solver_kind::lm), even, 1e-4);
    expect_truth<lane::double_lanes>(tofts_settings(solver_kind::simplex), even, 1e-3);
  }
  expect_truth<lane::float_lanes>(tofts_settings(solver_kind::lm), true, 1e-2);
}

TEST(PerfusionOtherModels, AFixedParameterKeepsItsValueAndHasNoDeviation) {
  fit_settings s = tofts_settings(solver_kind::lm);
  s.rules[1].fixed = true, s.rules[1].start = 0.25;
  const time_course f = bolus(true);
  const auto rows = tofts_rows(f, {{60, 0.25, 2}});
  output_memory<model_outputs<tofts_model>> out(1);
  cpu_fitter<tofts_model, lane::double_lanes>({}, f, {}, s).fit(1, rows.data(), out.arrays().array);
  EXPECT_EQ(out.values<"ve">()[0], 0.25F);
  EXPECT_EQ(out.values<"sd_ve">()[0], 0);
  EXPECT_NEAR(out.values<"Ktrans">()[0], 60, 0.01);
}

TEST(PerfusionOtherModels, OutputsFollowFromTheTable) {
  const auto& table = model_outputs<tofts_model>::table;
  const std::vector<std::string> expected{"Ktrans", "ve", "delay", "sd_Ktrans", "sd_ve", "sd_delay", "kep"};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(table[i].name, expected[i]);
  EXPECT_STREQ(table[0].unit, "ml/100g/min");
  EXPECT_STREQ(table[1].unit, "1");
  EXPECT_STREQ(table[find_output<model_outputs<tofts_model>>("at_bound")].meaning,
               "bit 0 Ktrans, 1 ve, 2 delay: ended at one of its bounds");
}

TEST(PerfusionOtherModels, SolversForOneExponentialRefuseOthers) {
  fit_settings s = standard_settings(solver_kind::varpro, info_of<tofts_model>);
  EXPECT_THROW(check_fit(bolus(true), s), std::invalid_argument);
  s = standard_settings(solver_kind::lm, info_of<tofts_model>);
  EXPECT_NO_THROW(check_fit(bolus(true), s));
  s.discretisation = discretisation_kind::paper;
  EXPECT_THROW(check_fit(bolus(true), s), std::invalid_argument);
}

template <class Model>
std::vector<double> curve_of(const Model& model, const double (&p)[8], std::size_t frames) {
  std::vector<double> curve(frames);
  model.curve(p, [&](int i, double c) { curve[static_cast<std::size_t>(i)] = c; });
  return curve;
}

/// The normal equations are J'(y - C) and J'J of the curve's central differences.
template <class Model>
void expect_equations_of_curve(const Model& model, const time_course& f) {
  const std::size_t n = f.frames();
  const double p[8] = {0.004, 0.011, 0.3, 0.07, 0.006, 0.9, 1.3, 2.9};
  std::vector<float> y;
  for (std::size_t i = 0; i < n; ++i)
    y.push_back(static_cast<float>(0.2 + 0.1 * std::sin(0.3 * static_cast<double>(i))));
  const auto c = curve_of(model, p, n);
  std::vector<std::vector<double>> columns;
  for (int k = 0; k < 8; ++k) {
    double up[8], down[8];
    std::copy(p, p + 8, up), std::copy(p, p + 8, down);
    const double h = 1e-5 * p[k];
    up[k] += h, down[k] -= h;
    const auto above = curve_of(model, up, n), below = curve_of(model, down, n);
    columns.emplace_back();
    for (std::size_t i = 0; i < n; ++i) columns.back().push_back((above[i] - below[i]) / (2 * h));
  }
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (f.counts[i] != 0) sum += a[i] * b[i];
    return sum;
  };
  std::vector<double> rest;
  for (std::size_t i = 0; i < n; ++i) rest.push_back(static_cast<double>(y[i]) - c[i]);
  normal_equations<general_model, double> e;
  model.equations(p, {y.data(), 1}, e);
  EXPECT_NEAR(e.cost, dot(rest, rest), 1e-12 * e.cost);
  EXPECT_NEAR(model.cost(p, {y.data(), 1}), e.cost, 1e-12 * e.cost);
  for (std::size_t a = 0; a < 8; ++a) {
    const double size = std::sqrt(dot(columns[a], columns[a]));
    EXPECT_NEAR(e.gradient[a], dot(columns[a], rest), 1e-6 * size * std::sqrt(e.cost)) << a;
    for (std::size_t b = 0; b <= a; ++b)
      EXPECT_NEAR(e.hessian[packed_index(static_cast<int>(a), static_cast<int>(b))], dot(columns[a], columns[b]),
                  1e-6 * size * std::sqrt(dot(columns[b], columns[b])))
          << a << ", " << b;
  }
}

TEST(PerfusionOtherModels, EquationsOfAGeneralResponseAreThoseOfItsCurve) {
  const time_course even = bolus(true), uneven = bolus(false);
  const curves_table<double> even_table(even), uneven_table(uneven);
  expect_equations_of_curve(recursion_model<general_model, double, discretisation_kind::exact>(even_table.view()),
                            even);
  expect_equations_of_curve(uneven_model<general_model, double>(uneven_table.view()), uneven);
}

TEST(PerfusionOtherModels, CurveOfAGeneralResponseIsTheSumOfItsIntegrals) {
  const time_course f = bolus(true);
  const double p[8] = {0.004, 0.011, 0.3, 0.07, 0.006, 0.9, 1.3, 2.9};
  const curves_table<double> table(f);
  const auto c =
      curve_of(recursion_model<general_model, double, discretisation_kind::exact>(table.view()), p, f.frames());
  for (std::size_t i = 0; i < f.frames(); ++i) {
    double sum = 0;
    for (int n = 0; n < 2; ++n) {
      const double t = f.time_s[i] - p[6 + n];
      sum += p[n] * (p[5] * reference::input_at(f, f.input(n), t) +
                     (1 - p[2]) * reference::convolved_input(f, f.input(n), p[3], t) +
                     p[2] * reference::convolved_input(f, f.input(n), p[4], t));
    }
    EXPECT_NEAR(c[i], sum, 1e-12) << i;
  }
}

}  // namespace
}  // namespace voxherd::perfusion
