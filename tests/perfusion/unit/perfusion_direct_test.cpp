#include <gtest/gtest.h>

#include "kernels/perfusion/paper/direct_model.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "tests/perfusion/reference/perfusion_convolution.hpp"

namespace {

using namespace voxherd::perfusion;
using namespace voxherd::perfusion::convolutions;

constexpr double flow_trials[][dual_parameters] = {{400. / 6000, 20. / 6000, 100. / 6000, 1, 2},
                                                   {1500. / 6000, 90. / 6000, 0, 11.2, 7.5},
                                                   {1. / 6000, 20. / 6000, 100. / 6000, 0, 3.2},
                                                   {60. / 6000, -5. / 6000, 30. / 6000, -1.3, -40.9}};

template <class Model>
std::vector<double> whole_curve(const Model& model, const double (&p)[dual_parameters]) {
  std::vector<double> c;
  model.curve(p, [&](int i, double value) {
    EXPECT_EQ(static_cast<std::size_t>(i), c.size());
    c.push_back(value);
  });
  return c;
}

TEST(DirectModel, TheCurveIsThePapersForAnyNumberOfFrames) {
  for (const int frames : {2, 7, 8, 9, 48, 75, 128, 448}) {
    const time_course t = test_course(frames, 120.0 / frames);
    const curves_table<double> curves(t);
    const direct_model<double, discretisation_kind::paper> direct(curves.view());
    for (const auto& p : flow_trials)
      EXPECT_LT(relative_error(whole_curve(direct, p), paper_curve(t, p)), 1e-13) << frames;
  }
}

TEST(DirectModel, TheExactCurveIsThatOfTheRecursion) {
  for (const int frames : {9, 48, 75, 128}) {
    const curves_table<double> curves(test_course(frames, 1.7));
    const direct_model<double, discretisation_kind::exact> direct(curves.view());
    const recursion_model<dual_model, double, discretisation_kind::exact> recursion(curves.view());
    for (const auto& p : flow_trials)
      EXPECT_LT(relative_error(whole_curve(direct, p), whole_curve(recursion, p)), 1e-13) << frames;
  }
}

TEST(DirectModel, TheCostIsTheSumOfSquaresOverCountedFrames) {
  time_course t = test_course(48, 2.37);
  t.counts[5] = t.counts[47] = 0;
  const curves_table<double> curves(t);
  const direct_model<double, discretisation_kind::paper> direct(curves.view());
  std::vector<float> y(48);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 0.01f * static_cast<float>(i % 11);
  for (const auto& p : flow_trials) {
    const auto c = paper_curve(t, p);
    double expected = 0;
    for (std::size_t i = 0; i < c.size(); ++i)
      expected += t.counts[i] * (static_cast<double>(y[i]) - c[i]) * (static_cast<double>(y[i]) - c[i]);
    EXPECT_NEAR(direct.cost(p, {y.data(), 1}), expected, 1e-12 * expected);
  }
}

TEST(DirectModel, LanesHaveSeparateParameters) {
  using voxherd::lane::double_lanes;
  const curves_table<double> curves(test_course(75, 1.6));
  const direct_model<double, discretisation_kind::exact> one(curves.view());
  const direct_model<double_lanes, discretisation_kind::exact> many(curves.view());
  double_lanes p[dual_parameters];
  const auto trial = [](std::size_t lane) -> auto& { return flow_trials[lane % std::size(flow_trials)]; };
  for (std::size_t i = 0; i < dual_parameters; ++i) p[i] = double_lanes([&](auto lane) { return trial(lane)[i]; });
  std::vector<double_lanes> c;
  many.curve(p, [&](int, double_lanes value) { c.push_back(value); });
  for (std::size_t lane = 0; lane < double_lanes::size(); ++lane) {
    std::vector<double> own;
    for (const double_lanes& value : c) own.push_back(value[lane]);
    EXPECT_LT(relative_error(own, whole_curve(one, trial(lane))), 1e-12);
  }
}

}  // namespace
