#include <gtest/gtest.h>

#include "tests/perfusion/reference/perfusion_case.hpp"
#include "tests/perfusion/reference/perfusion_claims.hpp"
#include "tests/perfusion/reference/perfusion_data.hpp"
#include "tests/perfusion/reference/perfusion_map_checks.hpp"
#include "tests/perfusion/reference/perfusion_signals.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

std::string why_no_gpu() {
  std::string why;
  return visible_gpus(&why).empty() ? "no GPU: " + why : "";
}

class PerfusionCuda : public testing::TestWithParam<fit_variant> {
 protected:
  void SetUp() override {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  }
};

TEST_P(PerfusionCuda, IsEquivalentToReference) {
  expect_equivalent_to_reference(first_gpu, GetParam().settings, GetParam().times);
}

TEST_P(PerfusionCuda, EndsAtTheMinimumOfTheCpu) {
  const perfusion_case c = difficult_voxels(GetParam().times);
  const perfusion_run there(first_gpu, c.frames, c.rows, GetParam().settings);
  const perfusion_run here(two_threads, c.frames, c.rows, GetParam().settings);
  expect_same_ends(there, here, GetParam().settings);
}

INSTANTIATE_TEST_SUITE_P(Fits, PerfusionCuda, testing::ValuesIn(every_way_to_fit()),
                         [](const auto& way) { return std::string(way.param.name); });

class PerfusionCudaBatch : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  }
};

TEST_F(PerfusionCudaBatch, AVoxelsFitDoesNotDependOnItsPosition) {
  const perfusion_case c = difficult_voxels();
  std::vector<float> many;
  for (int i = 0; i < 61; ++i) many.insert(many.end(), c.rows.begin(), c.rows.end());
  for (const auto solver : {solver_kind::simplex, solver_kind::lm, solver_kind::varpro, solver_kind::linear}) {
    const perfusion_run run(first_gpu, c.frames, many, quality_settings(solver));
    for (std::size_t v = c.count; v < run.voxels(); ++v)
      for (std::size_t m = 0; m < map_count; ++m) ASSERT_EQ(run.maps[m][v], run.maps[m][v % c.count]) << v;
  }
}

TEST_F(PerfusionCudaBatch, AnEmptyBatchAndABatchOfOneAreFitted) {
  const perfusion_case c = difficult_voxels();
  const fit_settings s = quality_settings(solver_kind::lm);
  const std::vector<float> first(c.rows.begin(), c.rows.begin() + static_cast<std::ptrdiff_t>(c.frames.frames()));
  EXPECT_EQ(perfusion_run(first_gpu, c.frames, {}, s).voxels(), 0U);
  expect_same_ends(perfusion_run(first_gpu, c.frames, first, s), perfusion_run(two_threads, c.frames, first, s), s);
}

TEST_F(PerfusionCudaBatch, ASimplexOfFewerParametersEndsAsOnTheCpu) {
  const perfusion_case c = difficult_voxels();
  fit_settings s = quality_settings(solver_kind::simplex);
  for (std::size_t fixed = dual_parameters - 1; fixed > 0; --fixed) {
    SCOPED_TRACE(fixed);
    s.rules[fixed].fixed = true;
    expect_same_ends(perfusion_run(first_gpu, c.frames, c.rows, s), perfusion_run(two_threads, c.frames, c.rows, s), s);
  }
}

/// All signal types through conversion and fit.
TEST_F(PerfusionCudaBatch, SignalsAreConvertedAsOnTheCpu) {
  for (const auto& [name, convert] : every_conversion()) {
    SCOPED_TRACE(name);
    const perfusion_case c = signals_of(difficult_voxels(), convert);
    const fit_settings s = quality_settings(solver_kind::lm);
    expect_same_ends(perfusion_run(first_gpu, c.frames, c.rows, s, convert),
                     perfusion_run(two_threads, c.frames, c.rows, s, convert), s);
  }
}

class PerfusionCudaData : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    if (!perfusion_data::is_available()) GTEST_SKIP() << "no data in " << perfusion_data::folder();
  }
};

TEST_F(PerfusionCudaData, SimplexAgreesWithIndependentCode) {
  expect_independent_simplex(first_gpu, discretisation_kind::paper);
  expect_independent_simplex(first_gpu, discretisation_kind::exact);
}

TEST_F(PerfusionCudaData, LevenbergAndVariableProjectionFindTheGlobalMinimumOfEveryVoxel) {
  for (const auto solver : {solver_kind::lm, solver_kind::varpro}) {
    expect_global_minima(first_gpu, standard_settings(solver), 1e-4, 5e-2);
    fit_settings s = quality_settings(solver);
    s.starts = 3;
    expect_global_minima(first_gpu, s, 1e-4, 1e-3);
  }
}

TEST_F(PerfusionCudaData, SinglePrecisionFindsTheGlobalMinimumOfEveryVoxel) {
  fit_settings s = quality_settings(solver_kind::lm, precision_kind::float32);
  s.starts = 3;
  expect_global_minima(first_gpu, s, 1e-4, 2e-2);
}

TEST_F(PerfusionCudaData, RulesAreRespected) {
  for (const auto solver : {solver_kind::lm, solver_kind::varpro}) expect_rules_kept(first_gpu, solver);
}

TEST_F(PerfusionCudaData, SimplexRespectsBounds) { expect_bounded_simplex(first_gpu); }

}  // namespace
