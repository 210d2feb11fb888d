#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/simplex.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_reference_simplex.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

constexpr voxel_samples no_samples{nullptr, 1};

/// The paper's problem: no bounds. Vertices inherit rounding errors, so only the first steps are compared.
fit_settings unbounded(int max_iterations = 600) {
  fit_settings s;
  s.max_iterations = max_iterations;
  s.solver = solver_kind::simplex;
  s.bounded = false;
  return s;
}

/// The history of one lane: positions and costs at the end of every iteration.
struct lane_run {
  std::vector<perfusion_parameters> best;
  std::vector<double> f_best, f_worst;
  int evaluations = 0;
  bool ended = false, converged = false;
};

double lane_value(int counter, int) { return counter; }
template <class Number>
double lane_value(const Number& counter, int l) {
  return lane::get(counter, l);
}

/// Runs one start per lane to its end; `model` has cost(p, samples). Results of a lane that has ended are ignored.
template <class Number, class Model>
std::vector<lane_run> run_to_end(const fit_limits<double, dual_parameters>& limits, const Model& model,
                                 const std::vector<perfusion_parameters>& starts) {
  using mask = typename lane::lane_traits<Number>::mask;
  constexpr int lanes = lane::lane_traits<Number>::count;
  Number start[dual_parameters];
  for (int i = 0; i < dual_parameters; ++i)
    for (int l = 0; l < lanes; ++l) lane::put(start[i], l, starts[static_cast<std::size_t>(l)][i]);
  simplex<Number, dual_parameters> machine(limits);
  machine.begin(mask(true), start);
  std::vector<lane_run> runs(lanes);
  const auto note = [&](lane_run& run, int l) {
    // Vertices change when an iteration ends, or while a shrunken simplex is filled: the last record of an iteration is
    // the complete one.
    const auto iteration = static_cast<std::size_t>(lane_value(machine.iterations(), l));
    run.best.resize(iteration + 1), run.f_best.resize(iteration + 1), run.f_worst.resize(iteration + 1);
    for (int i = 0; i < dual_parameters; ++i) run.best.back()[i] = lane::get(machine.best()[i], l);
    run.f_best.back() = lane::get(machine.best_cost(), l);
    run.f_worst.back() = lane::get(machine.worst_cost(), l);
  };
  for (int left = lanes; left > 0;) {
    for (int l = 0; l < lanes; ++l)
      if (!runs[l].ended) note(runs[l], l), ++runs[l].evaluations;
    const mask ended = machine.advance(model, no_samples);
    for (int l = 0; l < lanes; ++l) {
      if (runs[l].ended || !lane::get(ended, l)) continue;
      note(runs[l], l);
      runs[l].ended = true, runs[l].converged = lane::get(machine.converged(), l);
      --left;
    }
  }
  return runs;
}

/// The cost as a function of one lane's parameters.
template <class Number>
struct function_cost {
  std::function<double(const perfusion_parameters&)> f;

  Number cost(const Number (&p)[dual_parameters], voxel_samples) const {
    Number sum(0.);
    for (int l = 0; l < lane::lane_traits<Number>::count; ++l) {
      perfusion_parameters x;
      for (int i = 0; i < dual_parameters; ++i) x[i] = lane::get(p[i], l);
      lane::put(sum, l, f(x));
    }
    return sum;
  }
};

/// The recursion's cost of samples in double: the traces have more digits than a float.
template <class Number, discretisation_kind Kind>
struct curve_cost {
  recursion_model<dual_model, Number, Kind> model;
  std::vector<Number> y;

  Number cost(const Number (&p)[dual_parameters], voxel_samples) const {
    Number sum(0.);
    model.curve(p, [&](int i, Number c) {
      const Number rest = y[static_cast<std::size_t>(i)] - c;
      sum += rest * rest;
    });
    return sum;
  }
};

double rosenbrock(const perfusion_parameters& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 10 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
  return sum;
}

/// A bowl of steps: most comparisons find equal values. Vertices are unlikely to be at its edges, where rounding would
/// decide.
double terraces(const perfusion_parameters& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::floor(std::fabs(x[i] - 0.318309886 * static_cast<double>(i + 1)) * 3.14159265);
  return sum;
}

void expect_path(const lane_run& run, const simplex_fit& expected) {
  ASSERT_EQ(run.best.size(), expected.trace.size() + 1);
  EXPECT_EQ(run.evaluations, expected.evaluations);
  EXPECT_EQ(run.converged, expected.converged);
  for (std::size_t i = 0; i < expected.trace.size(); ++i) {
    const auto& step = expected.trace[i];
    ASSERT_NEAR(run.f_best[i + 1], step.f_best, 1e-9 * std::fabs(step.f_best)) << "iteration " << i + 1;
    ASSERT_NEAR(run.f_worst[i + 1], step.f_worst, 1e-9 * std::fabs(step.f_worst)) << "iteration " << i + 1;
    for (int k = 0; k < dual_parameters; ++k)
      ASSERT_NEAR(run.best[i + 1][k], step.best[k], 1e-9) << "iteration " << i + 1 << ", parameter " << k;
  }
}

template <class Number>
void expect_paths_of_reference(double (*f)(const perfusion_parameters&), fit_settings s) {
  const std::vector<perfusion_parameters> all{{-1.2, 1, -1.2, 1, 0.5}, {0.1, 3, 2, -4, 1}, {2, 2, 2, 2, 2},
                                              {0, 0.5, 0, 4, 0},       {5, -5, 1, -1, 3},  {0.7, 0.8, 1.9, 1.1, 1.3},
                                              {-2, 0.2, 0.4, 9, 0.3},  {3, 1, 4, 1, 5},    {2, 7, 1, 8, 2}};
  simplex_rules rules;
  rules.absolute_tolerance = s.absolute_tolerance, rules.relative_tolerance = s.relative_tolerance;
  rules.max_iterations = s.max_iterations;
  constexpr std::size_t lanes = lane::lane_traits<Number>::count;
  for (std::size_t first = 0; first < all.size(); first += lanes) {
    std::vector<perfusion_parameters> starts;
    for (std::size_t l = 0; l < lanes; ++l) starts.push_back(all[(first + l) % all.size()]);
    const fit_limits<double, dual_parameters> limits(s);
    const auto runs = run_to_end<Number>(limits, function_cost<Number>{f}, starts);
    for (std::size_t l = 0; l < lanes; ++l) {
      SCOPED_TRACE(testing::Message() << "start " << (first + l) % all.size() << ", lane " << l);
      expect_path(runs[l], nelder_mead(f, starts[l], rules));
    }
  }
}

TEST(PerfusionSimplex, TakesTheStepsOfTheReference) {
  expect_paths_of_reference<double>(rosenbrock, unbounded(150));
  expect_paths_of_reference<lane::double_lanes>(rosenbrock, unbounded(150));
}

TEST(PerfusionSimplex, PlacesANewVertexAfterEqualOnes) {
  fit_settings s = unbounded(80);
  s.absolute_tolerance = 0;
  expect_paths_of_reference<double>(terraces, s);
  expect_paths_of_reference<lane::double_lanes>(terraces, s);
}

TEST(PerfusionSimplex, StopsByTheRelativeTolerance) {
  fit_settings s = unbounded();
  s.absolute_tolerance = 0;
  s.relative_tolerance = 1e-3;
  const auto shifted = [](const perfusion_parameters& x) { return 5 + rosenbrock(x); };
  expect_paths_of_reference<double>(shifted, s);
}

TEST(PerfusionSimplex, FixedParametersAreKeptAndTheOthersTakeTheStepsOfASmallerSimplex) {
  for (unsigned pattern = 1; pattern < 31; ++pattern) {
    fit_settings s = unbounded(100);
    simplex_rules rules;
    rules.max_iterations = 100;
    perfusion_parameters start{0.4, 1.3, 0.8, 1.9, 2.5};
    for (std::size_t i = 0; i < start.size(); ++i) {
      s.rules[i].start = start[i];
      s.rules[i].fixed = rules.fixed[i] = (pattern >> i & 1) != 0;
    }
    const fit_limits<double, dual_parameters> limits(s);
    SCOPED_TRACE(pattern);
    const auto runs = run_to_end<double>(limits, function_cost<double>{rosenbrock}, {start});
    expect_path(runs[0], nelder_mead(rosenbrock, start, rules));
  }
}

TEST(PerfusionSimplex, NeverEvaluatesBeyondTheBounds) {
  fit_settings s;
  s.rules = {{{1.5, 1.2, 3}, {1.5, 1.4, 1.6}, {1.5, -1, 1.55}, {2, 0, 2}, {0, 0, 2}}};
  const fit_limits<double, dual_parameters> limits(s);
  int seen = 0;
  const auto watched = [&](const perfusion_parameters& x) {
    ++seen;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_GE(x[i], s.rules[i].least);
      EXPECT_LE(x[i], s.rules[i].most);
    }
    return rosenbrock(x);
  };
  perfusion_parameters start;
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = s.rules[i].start;
  const auto runs = run_to_end<double>(limits, function_cost<double>{watched}, {start});
  EXPECT_GT(seen, 50);
  EXPECT_LT(runs[0].f_best.back(), rosenbrock(start));
}

TEST(PerfusionSimplex, AVoxelOfNansEnds) {
  const fit_limits<double, dual_parameters> limits(unbounded());
  const auto runs = run_to_end<double>(
      limits, function_cost<double>{[](const perfusion_parameters&) { return std::nan(""); }}, {paper_start()});
  EXPECT_TRUE(runs[0].ended);
}

class PerfusionSimplexTrace : public testing::Test {
 protected:
  void SetUp() override {
    if (!perfusion_data::is_available()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
  }

  /// All lanes run, each with another of the three voxels.
  template <class Number, discretisation_kind Kind>
  void expect_traces(const std::string& model) {
    const time_course frames = perfusion_data::frames("Nt128");
    const curves_table<double> table(frames);
    const std::array<std::size_t, 3> voxels{0, 1, 100};
    const auto curves = perfusion_data::table("curves_150_" + model + ".csv");
    curve_cost<Number, Kind> cost{recursion_model<dual_model, Number, Kind>(table.view()),
                                  std::vector<Number>(frames.frames())};
    constexpr std::size_t lanes = lane::lane_traits<Number>::count;
    const fit_limits<double, dual_parameters> limits(unbounded());
    for (std::size_t first = 0; first < voxels.size(); first += lanes) {
      for (std::size_t l = 0; l < lanes; ++l) {
        const auto& y = perfusion_data::voxel(curves, voxels[(first + l) % voxels.size()]);
        for (std::size_t i = 0; i < y.size(); ++i) lane::put(cost.y[i], static_cast<int>(l), y[i]);
      }
      const auto runs = run_to_end<Number>(limits, cost, std::vector(lanes, paper_start()));
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t v = voxels[(first + l) % voxels.size()];
        SCOPED_TRACE(testing::Message() << "voxel " << v << ", lane " << l);
        expect_trace(runs[l], model, v, perfusion_data::voxel(curves, v));
      }
    }
  }

  static void expect_trace(const lane_run& run, const std::string& model, std::size_t v, const std::vector<double>& y) {
    const auto fits = perfusion_data::table("fit_nm_" + model + ".csv");
    const auto trace = perfusion_data::table("nm_trace_" + model +
                                             (v == 0   ? "_v000.csv"
                                              : v == 1 ? "_v001.csv"
                                                       : "_v100.csv"));
    ASSERT_EQ(run.best.size(), trace.at("iter").size() + 1);
    EXPECT_EQ(run.evaluations, fits.at("fevals")[v]);
    EXPECT_EQ(run.converged, fits.at("flag_0conv_1maxit")[v] == 0);
    // Vertices inherit rounding errors; a curve with a relative error e changes the cost by 2 |y - C| e |y|.
    const double size = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.));
    const auto tolerance = [&](double f) { return 2 * std::sqrt(f) * 1e-9 * size + 1e-9 * f; };
    for (std::size_t i = 0; i + 1 < run.best.size(); ++i) {
      ASSERT_NEAR(run.f_best[i + 1], trace.at("f_best")[i], tolerance(trace.at("f_best")[i])) << "iteration " << i + 1;
      ASSERT_NEAR(run.f_worst[i + 1], trace.at("f_worst")[i], tolerance(trace.at("f_worst")[i]))
          << "iteration " << i + 1;
      const auto expected = perfusion_data::parameters(trace, i);
      for (std::size_t k = 0; k < expected.size(); ++k)
        ASSERT_NEAR(run.best[i + 1][k], expected[k], 1e-9 * paper_start()[k]) << "iteration " << i + 1;
    }
  }
};

TEST_F(PerfusionSimplexTrace, OneVoxelFollowsThePaperTraces) {
  expect_traces<double, discretisation_kind::paper>("rect");
}

TEST_F(PerfusionSimplexTrace, LanesFollowThePaperTraces) {
  expect_traces<lane::double_lanes, discretisation_kind::paper>("rect");
}

TEST_F(PerfusionSimplexTrace, OneVoxelFollowsTheExactTraces) {
  expect_traces<double, discretisation_kind::exact>("pwl");
}

TEST_F(PerfusionSimplexTrace, LanesFollowTheExactTraces) {
  expect_traces<lane::double_lanes, discretisation_kind::exact>("pwl");
}

}  // namespace
