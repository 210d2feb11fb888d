#include <gtest/gtest.h>

#include "tests/reference/perfusion_claims.hpp"
#include "tests/reference/perfusion_data.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

class PerfusionData : public testing::Test {
 protected:
  void SetUp() override {
    if (!perfusion_data::there()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
  }
  const device two_threads{backend::cpu, 2, 0};
};

TEST_F(PerfusionData, PaperSimplexEndsWhereIndependentCodeEnds) {
  expect_independent_simplex(two_threads, discretisation_kind::paper);
}

TEST_F(PerfusionData, ExactSimplexEndsWhereIndependentCodeEnds) {
  expect_independent_simplex(two_threads, discretisation_kind::exact);
}

TEST_F(PerfusionData, LevenbergFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, solver_kind::lm, precision_kind::float64, 1, 1e-4, 1e-3);
  expect_global_minima(two_threads, solver_kind::lm, precision_kind::float64, 3, 1e-4, 1e-3);
}

TEST_F(PerfusionData, VariableProjectionFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, solver_kind::varpro, precision_kind::float64, 1, 1e-4, 1e-3);
  expect_global_minima(two_threads, solver_kind::varpro, precision_kind::float64, 3, 1e-4, 1e-3);
}

TEST_F(PerfusionData, SinglePrecisionFindsTheGlobalMinimumOfEveryVoxel) {
  expect_global_minima(two_threads, solver_kind::lm, precision_kind::float32, 3, 1e-4, 2e-2);
}

TEST_F(PerfusionData, LevenbergKeepsRules) { expect_rules_kept(two_threads, solver_kind::lm); }

TEST_F(PerfusionData, VariableProjectionKeepsRules) { expect_rules_kept(two_threads, solver_kind::varpro); }

}  // namespace
