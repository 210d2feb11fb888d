#include <gtest/gtest.h>

#include <cmath>

#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_reference_fit.hpp"
#include "tests/perfusion/reference/perfusion_reference_linear.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using perfusion::discretisation_kind;
using perfusion::time_course;

/// Frames 1 s apart, inputs without special structure.
time_course ten_frames() {
  time_course f;
  for (int i = 0; i < 10; ++i) f.time_s.push_back(i);
  f.arterial = {0, 1, 6, 4, 3, 2.5, 2, 2, 1.5, 1};
  f.portal = {0, 0, 0.5, 1, 2, 2.5, 2, 1.5, 1.2, 1};
  f.counts.assign(10, 1);
  return f;
}

TEST(PerfusionReferenceFit, OneFreeFlowHasTheMeanAndDeviationOfARegressionThroughZero) {
  const time_course f = ten_frames();
  perfusion_rules rules = perfusion::fit_settings{}.rules;
  const perfusion_parameters p{0.2, 0, 0.05, 0.7, 1.2};
  for (std::size_t i = 0; i < p.size(); ++i) rules[i].start = p[i], rules[i].fixed = i != perfusion::ka;
  const auto unit = exact_curve(f, {0.2, 1, 0, 0.7, 1.2}), rest = exact_curve(f, p);
  std::vector<double> y;
  double uu = 0, uy = 0, square = 0;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const double noise = i % 2 == 0 ? 0.1 : -0.07;
    y.push_back(0.02 * unit[i] + rest[i] + noise);
    uu += unit[i] * unit[i], uy += unit[i] * (0.02 * unit[i] + noise);
  }
  for (std::size_t i = 0; i < unit.size(); ++i) square += std::pow(y[i] - rest[i] - uy / uu * unit[i], 2);

  const auto fit = global_search(f, discretisation_kind::exact, rules)(y);
  const auto sd =
      standard_deviations(f, discretisation_kind::exact, fit.best, fit.cost, {true, false, true, true, true});

  EXPECT_NEAR(fit.best[perfusion::ka], uy / uu, 1e-12);
  EXPECT_NEAR(fit.cost, square, 1e-12);
  EXPECT_NEAR(sd[perfusion::ka], std::sqrt(square / 9 / uu), 1e-12);
  EXPECT_EQ(sd[perfusion::kl], 0);
}

TEST(PerfusionReferenceFit, AFlowThatWouldBeNegativeEndsAtZero) {
  const time_course f = ten_frames();
  const auto y = exact_curve(f, {0.2, 0.03, -0.01, 0.5, 0.5});
  perfusion_rules rules = perfusion::fit_settings{}.rules;
  for (const int i : {perfusion::kl, perfusion::tau_a, perfusion::tau_p}) {
    rules[static_cast<std::size_t>(i)].fixed = true;
    rules[static_cast<std::size_t>(i)].start = i == perfusion::kl ? 0.2 : 0.5;
  }
  const auto fit = global_search(f, discretisation_kind::exact, rules)(y);
  EXPECT_EQ(fit.best[perfusion::kp], 0);
  EXPECT_GT(fit.cost, 0);
}

TEST(PerfusionReferenceFit, FindsTheTruthOfANoiseFreeCurveInEitherDiscretisation) {
  const time_course f = ten_frames();
  const perfusion_parameters truth{0.15, 0.02, 0.03, 1.3, 0.4};
  for (const auto how : {discretisation_kind::exact, discretisation_kind::paper}) {
    const auto fit = global_search(f, how, perfusion::fit_settings{}.rules)(perfusion_curve(f, how, truth));
    for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(fit.best[i], truth[i], 1e-6);
  }
}

TEST(PerfusionReferenceFit, LinearFitFindsTheSolutionOfItsEquation) {
  time_course f = ten_frames();
  f.time_s = {5, 6, 7, 7.5, 9, 10, 12, 13, 14, 16};
  f.counts[4] = 0;
  const double k = 0.11, a = 0.02, p = 0.04, tau = 0.6;
  std::vector<double> y;
  double integral = 0, before = 0, time = 5;
  for (std::size_t i = 0; i < f.frames(); ++i) {
    if (f.counts[i] == 0) {
      y.push_back(1e9);
      continue;
    }
    const double step = f.time_s[i] - time, t = f.time_s[i] - 5;
    const double fed = a * convolved_input(f, f.arterial, 0, t - tau) + p * convolved_input(f, f.portal, 0, t + tau);
    // C = inflow - k (integral + step (before + C) / 2)
    y.push_back((fed - k * (integral + step * before / 2)) / (1 + k * step / 2));
    integral += step * (before + y.back()) / 2;
    before = y.back(), time = f.time_s[i];
  }
  const auto free = murase_fit(f, y, {0, 0, 0, tau, -tau}, {false, false, false});
  EXPECT_NEAR(free[perfusion::kl], k, 1e-12);
  EXPECT_NEAR(free[perfusion::ka], a, 1e-12);
  EXPECT_NEAR(free[perfusion::kp], p, 1e-12);
  const auto given = murase_fit(f, y, {0, a, 0, tau, -tau}, {false, true, false});
  EXPECT_NEAR(given[perfusion::kl], k, 1e-12);
  EXPECT_EQ(given[perfusion::ka], a);
}

class PerfusionFitData : public testing::Test {
 protected:
  void SetUp() override {
    if (!perfusion_data::is_available()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
    frames = perfusion_data::frames("Nt128");
    curves = perfusion_data::table("curves_150_pwl.csv");
    reference_fits = perfusion_data::table("fit_gold_pwl.csv");
    rules[perfusion::tau_a].most = 10;  // the reference data's bound
  }

  time_course frames;
  column_table curves, reference_fits;
  perfusion_rules rules = perfusion::fit_settings{}.rules;
};

TEST_F(PerfusionFitData, GlobalSearchFindsTheMinimaOfIndependentCode) {
  const global_search search(frames, discretisation_kind::exact, rules);
  for (std::size_t v = 1; v < perfusion_data::voxels; v += 4) {
    const auto& y = perfusion_data::voxel(curves, v);
    const double expected = reference_fits.at("cost")[v];
    EXPECT_NEAR(search(y).cost, expected, 1e-7 * expected) << "voxel " << v;
    EXPECT_NEAR(perfusion_cost(frames, discretisation_kind::exact, perfusion_data::parameters(reference_fits, v), y),
                expected, 1e-11 * expected);
  }
}

TEST_F(PerfusionFitData, StandardDeviationsAreThoseOfIndependentCode) {
  const std::array<std::string, 5> names{"kl", "ka", "kp", "tau_a", "tau_p"};
  for (std::size_t v = 1; v < perfusion_data::voxels; ++v) {
    if (v == 121) continue;  // has no portal flow: no delay of it, and no deviation
    const auto p = perfusion_data::parameters(reference_fits, v);
    const auto sd =
        map_units(standard_deviations(frames, discretisation_kind::exact, p, reference_fits.at("cost")[v], {}));
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double expected = reference_fits.at("se_" + names[i])[v];
      EXPECT_NEAR(sd[i], expected, 1e-6 * expected) << "voxel " << v << ", " << names[i];
    }
  }
}

}  // namespace
