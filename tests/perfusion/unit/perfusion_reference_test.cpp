#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using perfusion::discretisation_kind;
using perfusion::time_course;

double peak(const std::vector<double>& curve) { return *std::max_element(curve.begin(), curve.end()); }

time_course even_frames(std::size_t count, double spacing_s, double arterial, double portal) {
  time_course f;
  for (std::size_t i = 0; i < count; ++i) f.time_s.push_back(spacing_s * static_cast<double>(i));
  f.arterial.assign(count, arterial);
  f.portal.assign(count, portal);
  f.counts.assign(count, 1);
  return f;
}

/// Possible error of a number printed with 12 significant digits.
double half_of_digit_12(double printed) {
  return printed == 0 ? 0 : 0.5 * std::pow(10, std::floor(std::log10(std::fabs(printed))) - 11);
}

TEST(PerfusionReference, ConvolvesARampAccordingToItsIntegral) {
  // c(t) = t for t > 0 has G(t) = t/k - (1 - e^{-kt}) / k^2
  time_course f = even_frames(9, 2.5, 0, 0);
  f.arterial = f.time_s;
  for (const double k : {1e-9, 1e-3, 0.07, 0.6, 5.0})
    for (const double t : {0.3, 2.5, 6.1, 20.0}) {
      const double x = k * t;
      const double expected = x < 1e-6 ? t * t / 2 : (x - 1 + std::exp(-x)) / (k * k);
      EXPECT_NEAR(convolved_input(f, f.arterial, k, t), expected,
                  expected * (x < 1e-6 ? 1e-8 : 1e-15 / (x * x) + 1e-15));
    }
}

TEST(PerfusionReference, RisesFromZeroOneFrameBeforeTheFirst) {
  // c = 6 (1 + t/3) on [-3, 0]: G(0) for k -> 0 is the triangle's area, 9.
  const time_course f = even_frames(4, 3, 6, 0);
  EXPECT_NEAR(convolved_input(f, f.arterial, 1e-12, 0), 9, 1e-10);
  EXPECT_NEAR(convolved_input(f, f.arterial, 1e-12, -1.5), 9. / 4, 1e-10);
  EXPECT_EQ(convolved_input(f, f.arterial, 0.1, -3), 0);
  EXPECT_EQ(input_at(f, f.arterial, -1.5), 3);
  EXPECT_EQ(input_at(f, f.arterial, -4), 0);
}

TEST(PerfusionReference, IsConstantAfterTheLastFrame) {
  time_course f = even_frames(3, 1, 0, 0);
  f.arterial = {0, 0, 2};
  EXPECT_EQ(input_at(f, f.arterial, 100), 2);
  // With a negative delay of a million seconds the curve is in steady state: 2 ka / kl.
  EXPECT_NEAR(exact_curve(f, {0.1, 0.03, 0, -1e6, 0})[0], 0.6, 1e-15);
}

TEST(PerfusionReference, SteadyGainsAreThoseOfTheTwoDiscretisations) {
  // kl 400 ml/100 g/min, T 2.37 s: the rectangle rule is x / (1 - e^-x) = 1.081 of 1 / kl.
  const double T = 2.37, k = 400. / 6000, x = k * T;
  const time_course f = even_frames(300, T, 1, 0);
  const perfusion_parameters p{k, k, 0, 0, 0};
  EXPECT_NEAR(exact_curve(f, p).back(), 1, 1e-14);
  EXPECT_NEAR(paper_curve(f, p).back(), x / (1 - std::exp(-x)), 1e-14);
  EXPECT_NEAR(paper_curve(f, p).back(), 1.081, 5e-4);
}

TEST(PerfusionReference, PaperCurveOfThreeFramesIsItsThreeSums) {
  time_course f = even_frames(3, 2, 0, 0);
  f.arterial = {1, 3, 5}, f.portal = {0, 4, 2};
  // f_j at tau_a 1 (half a frame earlier) and tau_p -1 (half a frame later, constant at the end), ka 1, kp 10
  const double f0 = 0.5 + 10 * 2, f1 = 2 + 10 * 3, f2 = 4 + 10 * 2, e = std::exp(-0.6);
  const auto curve = paper_curve(f, {0.3, 1, 10, 1, -1});
  EXPECT_NEAR(curve[0], 2 * f0, 1e-13);
  EXPECT_NEAR(curve[1], 2 * (f1 + e * f0), 1e-13);
  EXPECT_NEAR(curve[2], 2 * (f2 + e * f1 + e * e * f0), 1e-13);
}

TEST(PerfusionReference, ExactCurveDoesNotDependOnFrames) {
  // The same piecewise linear input sampled at other frames, also uneven ones, gives the same curve at common frames.
  time_course coarse = even_frames(6, 4, 0, 0);
  coarse.arterial = {0, 0, 5, 2, 1, 1}, coarse.portal = {0, 0, 1, 3, 2, 1};
  time_course fine;
  fine.time_s = {0, 1, 4, 7, 8, 8.5, 12, 13, 14, 16, 20};
  for (const double t : fine.time_s) {
    fine.arterial.push_back(input_at(coarse, coarse.arterial, t));
    fine.portal.push_back(input_at(coarse, coarse.portal, t));
  }
  fine.counts.assign(fine.time_s.size(), 1);
  const perfusion_parameters p{0.08, 0.01, 0.02, 1.3, -2.7};
  const auto a = exact_curve(coarse, p), b = exact_curve(fine, p);
  const std::vector<std::size_t> places{0, 2, 4, 6, 9, 10};
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_NEAR(a[i], b[places[i]], 1e-15);
}

TEST(PerfusionReference, MaskedFramesDoNotContributeToTheCost) {
  time_course f = even_frames(3, 1, 1, 0);
  f.counts = {1, 0, 1};
  const perfusion_parameters none{0.1, 0, 0, 0, 0};
  EXPECT_EQ(perfusion_cost(f, discretisation_kind::exact, none, {1, 1000, 2}), 5);
}

TEST(PerfusionReference, SimplexTakesTheStepsComputedByHand) {
  // f = x, one free parameter, start 1: vertices 1 and 1.05. Reflected 0.95, expanded 0.9: accepted. Then 0.85 and 0.7.
  simplex_rules rules;
  rules.fixed = {false, true, true, true, true};
  rules.max_iterations = 2;
  const auto line = nelder_mead([](const perfusion_parameters& p) { return p[0]; }, {1, 7, 7, 7, 7}, rules);
  ASSERT_EQ(line.trace.size(), 2U);
  EXPECT_EQ(line.trace[0].action, simplex_action::expand);
  EXPECT_NEAR(line.trace[0].f_best, 0.9, 1e-15);
  EXPECT_NEAR(line.trace[0].f_worst, 1, 1e-15);
  EXPECT_NEAR(line.cost, 0.7, 1e-14);
  EXPECT_EQ(line.evaluations, 6);
  EXPECT_EQ(line.best[4], 7);
  EXPECT_FALSE(line.converged);

  // A parabola around 1: 0.95 has the cost of 1.05, so the inside point 1.025 is tried and accepted.
  rules.max_iterations = 1;
  const auto bowl =
      nelder_mead([](const perfusion_parameters& p) { return (p[0] - 1) * (p[0] - 1); }, {1, 7, 7, 7, 7}, rules);
  EXPECT_EQ(bowl.trace[0].action, simplex_action::inside);
  EXPECT_NEAR(bowl.trace[0].f_worst, 0.025 * 0.025, 1e-15);

  // A start of zero has a vertex at 0.00025; a constant stops immediately.
  const auto flat = nelder_mead([](const perfusion_parameters&) { return 3; }, {0, 0, 0, 0, 0});
  EXPECT_EQ(flat.iterations, 0);
  EXPECT_TRUE(flat.converged);
}

class PerfusionReferenceData : public testing::Test {
 protected:
  void SetUp() override {
    if (!perfusion_data::is_available()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
    frames = perfusion_data::frames("Nt128");
  }

  /// Largest difference of the 150 noise-free curves relative to the peak, beyond the rounding to the file's 12 digits.
  double largest_difference(discretisation_kind how, const std::string& file) {
    const auto truth = perfusion_data::table("truth_150.csv"), curves = perfusion_data::table(file);
    double largest = 0;
    for (std::size_t v = 0; v < perfusion_data::voxels; ++v) {
      const auto& stored = perfusion_data::voxel(curves, v);
      const auto ours = perfusion_curve(frames, how, perfusion_data::parameters(truth, v));
      for (std::size_t i = 0; i < stored.size(); ++i)
        largest = std::max(largest, (std::fabs(ours[i] - stored[i]) - half_of_digit_12(stored[i])) / peak(stored));
    }
    return largest;
  }

  void expect_trace(discretisation_kind how, const std::string& model, std::size_t voxel);
  void expect_fits(discretisation_kind how, const std::string& model);

  time_course frames;
};

TEST_F(PerfusionReferenceData, ExactCurvesAgreeWithIndependentCode) {
  EXPECT_LT(largest_difference(discretisation_kind::exact, "curves_150_pwl_clean.csv"), 1e-12);
}

TEST_F(PerfusionReferenceData, PaperCurvesAgreeWithIndependentCode) {
  EXPECT_LT(largest_difference(discretisation_kind::paper, "curves_150_rect_clean.csv"), 1e-12);
}

TEST_F(PerfusionReferenceData, BothCurvesAgreeAtEveryNumberOfFramesOfThePaper) {
  const auto p = kernel_units({400, 20, 100, 1, 2});
  for (const std::string n : {"032", "064", "128", "256", "320", "448"}) {
    frames = perfusion_data::frames("Nt" + n);
    const auto stored = perfusion_data::table("curve_paper_Nt" + n + ".csv");
    const auto &rect = stored.at("Cl_rect_mM"), &pwl = stored.at("Cl_pwl_mM");
    const auto paper = paper_curve(frames, p), exact = exact_curve(frames, p);
    for (std::size_t i = 0; i < rect.size(); ++i) {
      EXPECT_NEAR(paper[i], rect[i], 1e-12 * peak(rect)) << n << " frames";
      EXPECT_NEAR(exact[i], pwl[i], 1e-12 * peak(pwl)) << n << " frames";
    }
  }
}

TEST_F(PerfusionReferenceData, TheTrapezoidOfMadymIsHalfAFrameLessAtBothEnds) {
  const auto truth = perfusion_data::table("truth_150.csv");
  const auto curves = perfusion_data::table("forward_madym_trapz_150.csv");
  for (std::size_t v = 0; v < perfusion_data::voxels; ++v) {
    const auto p = perfusion_data::parameters(truth, v);
    const auto sums = paper_curve(frames, p);
    const auto& stored = perfusion_data::voxel(curves, v);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const double t = frames.time_s[i];
      const double last = p[perfusion::ka] * input_at(frames, frames.arterial, t - p[perfusion::tau_a]) +
                          p[perfusion::kp] * input_at(frames, frames.portal, t - p[perfusion::tau_p]);
      // Inputs are 0 at the first frame. madym prints 6 digits; its README allows 5e-7 mM.
      ASSERT_NEAR(sums[i] - frames.spacing_s() / 2 * last, stored[i], 5e-7) << "voxel " << v << ", frame " << i;
    }
  }
}

void PerfusionReferenceData::expect_trace(discretisation_kind how, const std::string& model, std::size_t voxel) {
  const auto curves = perfusion_data::table("curves_150_" + model + (voxel == 0 ? "_clean.csv" : ".csv"));
  const auto& y = perfusion_data::voxel(curves, voxel);
  const std::string number = voxel == 0 ? "000" : voxel == 1 ? "001" : "100";
  const auto trace = perfusion_data::table("nm_trace_" + model + "_v" + number + ".csv");
  const auto cost = [&](const perfusion_parameters& p) { return perfusion_cost(frames, how, p, y); };
  const auto fit = nelder_mead(cost, paper_start());
  // A curve with a relative error e changes the cost by 2 |y - C| e |C|. e is the rounding of a curve if the vertex is
  // the trace's, and the accumulated error of the vertices if it is ours.
  const double size = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.));
  const auto tolerance = [&](double f, double e) { return 2 * std::sqrt(f) * e * size + e * f; };
  ASSERT_EQ(fit.trace.size(), trace.at("iter").size());
  for (std::size_t i = 0; i < fit.trace.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "voxel " << voxel << ", iteration " << i + 1);
    ASSERT_EQ(static_cast<char>(fit.trace[i].action), static_cast<char>(trace.at("action")[i]));
    const auto expected = perfusion_data::parameters(trace, i);
    const double f_best = trace.at("f_best")[i], f_worst = trace.at("f_worst")[i];
    ASSERT_NEAR(cost(expected), f_best, tolerance(f_best, 1e-14));
    ASSERT_NEAR(fit.trace[i].f_best, f_best, tolerance(f_best, 1e-9));
    ASSERT_NEAR(fit.trace[i].f_worst, f_worst, tolerance(f_worst, 1e-9));
    for (std::size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(fit.trace[i].best[k], expected[k], 1e-9 * paper_start()[k]);
  }
}

TEST_F(PerfusionReferenceData, SimplexOfThePaperCostFollowsTheTraces) {
  for (const std::size_t voxel : {0, 1, 100}) expect_trace(discretisation_kind::paper, "rect", voxel);
}

TEST_F(PerfusionReferenceData, SimplexOfTheExactCostFollowsTheTraces) {
  for (const std::size_t voxel : {0, 1, 100}) expect_trace(discretisation_kind::exact, "pwl", voxel);
}

void PerfusionReferenceData::expect_fits(discretisation_kind how, const std::string& model) {
  const auto curves = perfusion_data::table("curves_150_" + model + ".csv");
  const auto fits = perfusion_data::table("fit_nm_" + model + ".csv");
  // Voxels of both groups; tests/perfusion/science checks all voxels with the program.
  for (std::size_t v = 0; v < perfusion_data::voxels; v += 7) {
    SCOPED_TRACE(testing::Message() << "voxel " << v);
    const auto& y = perfusion_data::voxel(curves, v);
    const auto fit =
        nelder_mead([&](const perfusion_parameters& p) { return perfusion_cost(frames, how, p, y); }, paper_start());
    EXPECT_EQ(fit.iterations, fits.at("iterations")[v]);
    EXPECT_EQ(fit.evaluations, fits.at("fevals")[v]);
    EXPECT_EQ(fit.converged, fits.at("flag_0conv_1maxit")[v] == 0);
    EXPECT_NEAR(fit.cost, fits.at("cost")[v], 1e-9);
    const auto expected = perfusion_data::parameters(fits, v);
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(fit.best[k], expected[k], 1e-6 * std::fabs(expected[k]));
  }
}

TEST_F(PerfusionReferenceData, SimplexOfThePaperCostAgreesWithIndependentCode) {
  expect_fits(discretisation_kind::paper, "rect");
}

TEST_F(PerfusionReferenceData, SimplexOfTheExactCostAgreesWithIndependentCode) {
  expect_fits(discretisation_kind::exact, "pwl");
}

}  // namespace
