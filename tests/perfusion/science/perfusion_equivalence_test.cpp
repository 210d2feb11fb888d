#include <gtest/gtest.h>

#include "tests/perfusion/reference/perfusion_case.hpp"
#include "tests/perfusion/reference/perfusion_signals.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

class PerfusionCpu : public testing::TestWithParam<fit_variant> {};

TEST_P(PerfusionCpu, IsEquivalentToReference) {
  expect_equivalent_to_reference(two_threads, GetParam().settings, GetParam().times);
}

INSTANTIATE_TEST_SUITE_P(Fits, PerfusionCpu, testing::ValuesIn(every_way_to_fit()),
                         [](const auto& way) { return std::string(way.param.name); });

TEST(PerfusionBatch, AVoxelsFitDoesNotDependOnItsNeighbours) {
  const perfusion_case voxels = difficult_voxels();
  for (const auto solver : {solver_kind::simplex, solver_kind::lm, solver_kind::varpro, solver_kind::linear}) {
    const fit_settings s = quality_settings(solver);
    const perfusion_run all(two_threads, voxels.frames, voxels.rows, s);
    const std::size_t width = voxels.frames.frames();
    for (const std::size_t first : {0U, 1U, 101U, 332U}) {
      const auto from = voxels.rows.begin() + static_cast<std::ptrdiff_t>(first * width);
      const perfusion_run part({backend::cpu, 1, 0}, voxels.frames, {from, voxels.rows.end()}, s);
      for (std::size_t v = 0; v < part.voxels(); v += 7) {
        for (std::size_t m = 0; m < map_count; ++m) ASSERT_EQ(part.maps[m][v], all.maps[m][first + v]) << first + v;
        ASSERT_EQ(part.iterations[v], all.iterations[first + v]);
      }
    }
  }
}

TEST(PerfusionSignals, T1OfEveryVoxelIsFoundAndUnfittedVoxelsHaveAReason) {
  for (const auto& [name, convert] : every_conversion()) {
    SCOPED_TRACE(name);
    const perfusion_case c = signals_of(difficult_voxels(), convert);
    const perfusion_run run(two_threads, c.frames, c.rows, standard_settings(solver_kind::lm), convert);
    for (std::size_t v = 0; v < c.count; ++v) {
      ASSERT_EQ(run.status[v], expected_status(v)) << v;
      if (run.status[v] != 0) continue;
      // Signals are floats: 6e-8 of a signal, whose relative change with T1 is about that of T1.
      ASSERT_NEAR(run.map(t1_before, v), true_t1_s(convert, v), 1e-5 * true_t1_s(convert, v)) << v;
      double S0 = 0;
      for (std::size_t i = 0; i < 4; ++i) S0 += static_cast<double>(c.rows[v * c.rows.size() / c.count + i]) / 4;
      ASSERT_NEAR(run.map(baseline_signal, v), S0, 1e-6 * S0) << v;
    }
  }
}

}  // namespace
