#include <gtest/gtest.h>

#include <cmath>

#include "tests/reference/perfusion_case.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

const device two_threads{backend::cpu, 2, 0};

class PerfusionCpu : public testing::Test {
 protected:
  perfusion_run run(const fit_settings& s) const { return {two_threads, voxels.frames, voxels.rows, s}; }

  void expect_minima_of(solver_kind solver, discretisation_kind how, precision_kind precision, double excess) {
    fit_settings s = quality_settings(solver, precision);
    s.discretisation = how;
    const auto fits = run(s);
    expect_judged_as_by_reference(voxels, s, fits);
    expect_minima(voxels, s, fits, excess);
  }

  /// Three voxels of 249 may come to a near tie that the rounding of a sum decides otherwise.
  void expect_simplex(discretisation_kind how) {
    fit_settings s;
    s.solver = solver_kind::simplex;
    s.bounded = false;
    s.starts = 0;
    s.discretisation = how;
    const auto fits = run(s);
    expect_judged_as_by_reference(voxels, s, fits);
    expect_simplex_of_reference(voxels, s, fits, 0.985);
  }

  const perfusion_case voxels = uneasy_voxels();
};

TEST_F(PerfusionCpu, ExactLevenbergEndsInTheReferencesMinima) {
  expect_minima_of(solver_kind::lm, discretisation_kind::exact, precision_kind::float64, 1e-9);
}

TEST_F(PerfusionCpu, PaperLevenbergEndsInTheReferencesMinima) {
  expect_minima_of(solver_kind::lm, discretisation_kind::paper, precision_kind::float64, 1e-9);
}

// In floats a cost of 45 residuals, each a difference with a rounding of the peak (30 times the noise), is known to
// 1e-5 of itself: a descent cannot see less.
TEST_F(PerfusionCpu, SinglePrecisionEndsWithin1e5OfTheReferencesMinima) {
  expect_minima_of(solver_kind::lm, discretisation_kind::exact, precision_kind::float32, 1e-5);
  expect_minima_of(solver_kind::lm, discretisation_kind::paper, precision_kind::float32, 1e-5);
}

TEST_F(PerfusionCpu, PaperSimplexTakesTheReferencesSteps) { expect_simplex(discretisation_kind::paper); }

TEST_F(PerfusionCpu, ExactSimplexTakesTheReferencesSteps) { expect_simplex(discretisation_kind::exact); }

TEST_F(PerfusionCpu, AVoxelsFitDoesNotDependOnItsNeighbours) {
  for (const auto solver : {solver_kind::simplex, solver_kind::lm}) {
    const fit_settings s = quality_settings(solver, precision_kind::float64);
    const auto all = run(s);
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

}  // namespace
