#include <gtest/gtest.h>

#include "tests/perfusion/reference/perfusion_case.hpp"
#include "tests/perfusion/reference/perfusion_claims.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

class PerfusionData : public testing::Test {
 protected:
  void SetUp() override {
    if (!perfusion_data::is_available()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
  }
};

TEST_F(PerfusionData, PaperSimplexAgreesWithIndependentCode) {
  expect_independent_simplex(two_threads, discretisation_kind::paper);
}

TEST_F(PerfusionData, ExactSimplexAgreesWithIndependentCode) {
  expect_independent_simplex(two_threads, discretisation_kind::exact);
}

fit_settings with_starts(fit_settings s, int starts) {
  s.starts = starts;
  return s;
}

// A fit that stops when the predicted relative decrease of the cost is 1e-5, which is 0.0012 of the noise's variance,
// is about 0.035 standard deviations from the minimum.
TEST_F(PerfusionData, LevenbergFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, standard_settings(solver_kind::lm), 1e-4, 5e-2);
  expect_global_minima(two_threads, with_starts(quality_settings(solver_kind::lm), 3), 1e-4, 1e-3);
}

TEST_F(PerfusionData, VariableProjectionFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, standard_settings(solver_kind::varpro), 1e-4, 5e-2);
  expect_global_minima(two_threads, with_starts(quality_settings(solver_kind::varpro), 3), 1e-4, 1e-3);
}

TEST_F(PerfusionData, SinglePrecisionFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, with_starts(quality_settings(solver_kind::lm, precision_kind::float32), 3), 1e-4,
                       2e-2);
}

TEST_F(PerfusionData, LevenbergRespectsRules) { expect_rules_kept(two_threads, solver_kind::lm); }

TEST_F(PerfusionData, VariableProjectionRespectsRules) { expect_rules_kept(two_threads, solver_kind::varpro); }

TEST_F(PerfusionData, SimplexRespectsBounds) { expect_bounded_simplex(two_threads); }

}  // namespace
