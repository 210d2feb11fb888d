#include <gtest/gtest.h>

#include <cmath>

#include "tests/reference/perfusion_case.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using namespace voxherd::perfusion;

const device two_threads{backend::cpu, 2, 0};

fit_settings with(fit_settings s, discretisation_kind how, convolution_kind convolution = convolution_kind::recursion) {
  s.discretisation = how;
  s.convolution = convolution;
  return s;
}

void check(const fit_settings& s, frame_times times = frame_times::even) {
  expect_equivalent_to_reference(two_threads, s, times);
}

TEST(PerfusionCpu, LevenbergOfExactCurvesIsEquivalentToReference) { check(quality_settings(solver_kind::lm)); }

TEST(PerfusionCpu, LevenbergOfPaperCurvesIsEquivalentToReference) {
  check(with(quality_settings(solver_kind::lm), discretisation_kind::paper));
}

TEST(PerfusionCpu, LevenbergInSinglePrecisionIsEquivalentToReference) {
  check(quality_settings(solver_kind::lm, precision_kind::float32));
  check(with(quality_settings(solver_kind::lm, precision_kind::float32), discretisation_kind::paper));
}

TEST(PerfusionCpu, LevenbergOfUnevenFramesIsEquivalentToReference) {
  check(quality_settings(solver_kind::lm), frame_times::uneven);
}

TEST(PerfusionCpu, VariableProjectionIsEquivalentToReference) {
  check(quality_settings(solver_kind::varpro));
  check(with(quality_settings(solver_kind::varpro), discretisation_kind::paper));
}

TEST(PerfusionCpu, VariableProjectionOfUnevenFramesIsEquivalentToReference) {
  check(quality_settings(solver_kind::varpro), frame_times::uneven);
}

TEST(PerfusionCpu, SimplexOfPaperCurvesIsEquivalentToReference) {
  check(with(quality_settings(solver_kind::simplex), discretisation_kind::paper));
}

TEST(PerfusionCpu, SimplexByTheDirectSumIsEquivalentToReference) {
  check(with(quality_settings(solver_kind::simplex), discretisation_kind::paper, convolution_kind::direct));
}

TEST(PerfusionCpu, SimplexByBlockFftIsEquivalentToReference) {
  check(with(quality_settings(solver_kind::simplex), discretisation_kind::paper, convolution_kind::block_fft));
}

TEST(PerfusionCpu, SimplexOfExactCurvesIsEquivalentToReference) { check(quality_settings(solver_kind::simplex)); }

TEST(PerfusionCpu, SimplexOfUnevenFramesIsEquivalentToReference) {
  check(quality_settings(solver_kind::simplex), frame_times::uneven);
}

TEST(PerfusionCpu, SimplexInSinglePrecisionIsJudgedAsByReference) {
  check(quality_settings(solver_kind::simplex, precision_kind::float32));
}

TEST(PerfusionCpu, LinearFitIsEquivalentToReference) {
  fit_settings s = standard_settings(solver_kind::linear);
  check(s);
  check(s, frame_times::uneven);
  s.rules[tau_a].start = 3.3, s.rules[tau_p].start = -1.4;
  check(s);
  s.rules[ka].fixed = true, s.rules[ka].start = 0;
  check(s);
}

TEST(PerfusionCpu, AVoxelsFitDoesNotDependOnItsNeighbours) {
  const perfusion_case voxels = uneasy_voxels();
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

}  // namespace
