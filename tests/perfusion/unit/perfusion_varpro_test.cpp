#include <gtest/gtest.h>

#include <cmath>

#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/uneven_model.hpp"
#include "kernels/perfusion/varpro.hpp"
#include "tests/perfusion/reference/perfusion_case.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_map_checks.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

constexpr double unit = perfusion::per_second;  ///< ml/100 g/min

/// Delays of complete frames and negative ones, no flow, no decay.
const perfusion_parameters places[] = {{0.07, 0.003, 0.017, 1, 2},      {0.07, 0.003, 0.017, 0, 2.37},
                                       {0.3, 0.02, 0.01, 4.4, -7.7},    {0.05, 0, 0.02, 3, 0.1},
                                       {0.05, 0.01, 0, 14.9, 9.9},      {1. / 6000, 0.003, 0.017, 2, 3},
                                       {4000. / 6000, 0.1, 0.1, 3.1, 9}};

/// Both methods give the same sums, up to the rounding of the largest terms that cancel in one of them.
template <class Model>
void expect_equations_of_columns(const Model& model, const perfusion_case& c) {
  for (const auto& place : places) {
    double p[dual_parameters];
    std::copy(place.begin(), place.end(), p);
    const voxel_samples y{c.rows.data(), 1};
    normal_equations<dual_model, double> expected, found;
    separable_equations<dual_model, double> columns;
    model.equations(p, y, expected);
    model.separable(p, y, columns);
    make_equations<dual_model>(p, columns, found);
    EXPECT_NEAR(found.cost, expected.cost, 1e-12 * expected.cost);
    for (int i = 0; i < dual_parameters; ++i) {
      const double length = std::sqrt(expected.hessian[packed_index(i, i)]);
      EXPECT_NEAR(found.gradient[i], expected.gradient[i], 1e-10 * length * std::sqrt(expected.cost)) << i;
      for (int j = 0; j <= i; ++j) {
        const double other = std::sqrt(expected.hessian[packed_index(j, j)]);
        EXPECT_NEAR(found.hessian[packed_index(i, j)], expected.hessian[packed_index(i, j)], 1e-10 * length * other)
            << i << " " << j;
      }
    }
  }
}

TEST(PerfusionVarpro, ColumnsGiveTheEquationsOfTheParameters) {
  const perfusion_case c = difficult_voxels();
  const curves_table<double> table(c.frames);
  expect_equations_of_columns(recursion_model<dual_model, double, discretisation_kind::exact>(table.view()), c);
  expect_equations_of_columns(recursion_model<dual_model, double, discretisation_kind::paper>(table.view()), c);
  const perfusion_case uneven = difficult_voxels(frame_times::uneven);
  const curves_table<double> uneven_table(uneven.frames);
  expect_equations_of_columns(uneven_model<dual_model, double>(uneven_table.view()), uneven);
}

/// The cost has one minimum over the flows: if no neighbour within bounds is better, no other point is.
void expect_best_flows(const fit_settings& s, const perfusion_case& c, std::size_t voxel) {
  const curves_table<double> table(c.frames);
  const recursion_model<dual_model, double, discretisation_kind::exact> model(table.view());
  const fit_limits<double, dual_parameters> limits(s);
  const voxel_samples y{c.rows.data() + voxel * c.frames.frames(), 1};
  for (const auto& place : places) {
    varpro<dual_model, double> machine(limits);
    double start[dual_parameters];
    std::copy(place.begin(), place.end(), start);
    machine.begin(true, start);
    machine.advance(model, y);
    double p[dual_parameters];
    std::copy(machine.best(), machine.best() + dual_parameters, p);
    const double cost = model.cost(p, y);
    // It is the cost at the start's flows minus the reduction by better ones.
    limits.confine(start);
    EXPECT_NEAR(machine.best_cost(), cost, 1e-14 * model.cost(start, y));
    for (const double step : {1e-2, 1e-4, 1e-6})
      for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) {
          double q[dual_parameters];
          std::copy(p, p + dual_parameters, q);
          q[ka] += step * a;
          q[kp] += step * b;
          limits.confine(q);
          if (!s.bounded) q[ka] = std::fmax(q[ka], 0), q[kp] = std::fmax(q[kp], 0);
          EXPECT_GE(model.cost(q, y), cost * (1 - 1e-12));
        }
  }
}

TEST(PerfusionVarpro, FindsTheBestFlowsWithinTheirBounds) {
  const perfusion_case c = difficult_voxels();
  fit_settings wide, narrow, one_input, given, unbounded;
  narrow.rules[ka] = {10 / unit, 8 / unit, 12 / unit};
  narrow.rules[kp] = {60 / unit, 50 / unit, 70 / unit};
  one_input.rules[kp] = {0, 0, 0, true};
  given.rules[ka] = {25 / unit, 0, 1, true};
  unbounded.bounded = false;
  unbounded.rules[kl].fixed = true;
  for (const auto& s : {wide, narrow, one_input, given, unbounded})
    for (const std::size_t voxel : {0U, 1U, 2U, 4U, 6U, 8U}) expect_best_flows(s, c, voxel);
}

void expect_ends_in_minima(fit_settings s) {
  const perfusion_case c = difficult_voxels();
  s.solver = solver_kind::varpro;
  s.relative_tolerance = 1e-12;
  const perfusion_run run(one_thread, c.frames, c.rows, s);
  expect_maps_of_reference(c, s, run);
  expect_minima(c, s, run, 1e-9);
}

TEST(PerfusionVarpro, FindsTheReferencesMinimaOfOneInput) {
  fit_settings s;
  s.rules[kp] = {0, 0, 0, true};
  s.rules[tau_p].fixed = true;
  expect_ends_in_minima(s);
}

TEST(PerfusionVarpro, FindsTheReferencesMinimaWithinNarrowBounds) {
  fit_settings s;
  s.rules[ka] = {20 / unit, 15 / unit, 25 / unit};
  s.rules[kp].most = 90 / unit;
  s.rules[tau_p].fixed = true;
  expect_ends_in_minima(s);
}

/// The global minima of data/perfusion_reference are those with delays up to 10 s.
class PerfusionGlobalMinimum : public testing::TestWithParam<solver_kind> {};

TEST_P(PerfusionGlobalMinimum, IsReachedFromTheBestStartByAllVoxels) {
  if (!perfusion_data::is_available()) GTEST_SKIP() << perfusion_data::folder() << " does not exist";
  const auto curves = perfusion_data::table("curves_150_pwl.csv");
  const auto reference_fits = perfusion_data::table("fit_gold_pwl.csv");
  const time_course frames = perfusion_data::frames("Nt128");
  std::vector<std::vector<double>> voxels;
  for (std::size_t v = 0; v < perfusion_data::voxels; ++v) voxels.push_back(perfusion_data::voxel(curves, v));
  fit_settings s;
  s.solver = GetParam();
  s.relative_tolerance = 1e-5;  // the program's
  s.rules[tau_a].most = 10;
  const perfusion_run run(one_thread, frames, rows_of(voxels), s);
  for (std::size_t v = 0; v < perfusion_data::voxels; ++v) {
    const double cost = perfusion_cost(frames, s.discretisation, run.parameters(v), as_floats(voxels[v]));
    // Voxel 0 has no noise except the samples' rounding to float.
    EXPECT_LE(cost, 1.0001 * reference_fits.at("cost")[v] + (v == 0 ? 1e-12 : 0)) << "voxel " << v;
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, PerfusionGlobalMinimum, testing::Values(solver_kind::lm, solver_kind::varpro),
                         [](const auto& solver) { return solver.param == solver_kind::lm ? "lm" : "varpro"; });

}  // namespace
