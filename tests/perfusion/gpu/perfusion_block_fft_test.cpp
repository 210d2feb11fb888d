#include "tests/perfusion/support/perfusion_convolved_fits.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::perfusion;
using namespace voxherd::perfusion::convolutions;

class BlockFftCuda : public gpu_test {};

TEST_F(BlockFftCuda, FitsOfEveryTableEqualTheCpusFitsByRecursion) {
#define VOXHERD_SHAPE(q, p) q *p,
  for (const int frames : {VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)}) {
#undef VOXHERD_SHAPE
    SCOPED_TRACE(frames);
    const time_course t = test_course(frames, 120.0 / frames);
    const auto rows = noisy_rows(t, 40);
    expect_same_fits(run_fits(gpu, t, papers_fit(convolution_kind::block_fft), rows),
                     run_fits(one_thread, t, papers_fit(convolution_kind::recursion), rows), 1);
  }
}

TEST_F(BlockFftCuda, PaddedAndMissingFramesDoNotContributeToCosts) {
  time_course t = test_course(75, 1.6);
  const auto rows = noisy_rows(t, 40);
  for (const std::size_t missing : {3, 20, 74}) t.counts[missing] = 0;
  expect_same_fits(run_fits(gpu, t, papers_fit(convolution_kind::block_fft), rows),
                   run_fits(one_thread, t, papers_fit(convolution_kind::block_fft), rows));
}

TEST_F(BlockFftCuda, FitsByDirectSumEqualTheCpus) {
  for (const int frames : {48, 75, 320}) {
    SCOPED_TRACE(frames);
    const time_course t = test_course(frames, 120.0 / frames);
    const auto rows = noisy_rows(t, 40);
    expect_same_fits(run_fits(gpu, t, papers_fit(convolution_kind::direct), rows),
                     run_fits(one_thread, t, papers_fit(convolution_kind::direct), rows), 1);
  }
}

TEST_F(BlockFftCuda, FixedParametersAndBoundsAreRespected) {
  const time_course t = test_course(64, 1.9);
  const auto rows = noisy_rows(t, 40);
  fit_settings s = papers_fit(convolution_kind::block_fft);
  s.bounded = true;
  s.rules[tau_p].fixed = true;
  s.rules[tau_p].start = 0;
  const auto found = run_fits(gpu, t, s, rows);
  expect_same_fits(found, run_fits(one_thread, t, s, rows));
  for (const float delay : found.maps[map_tau_p]) EXPECT_EQ(delay, 0);
}

TEST_F(BlockFftCuda, InvalidVoxelsAreSkipped) {
  const time_course t = test_course(48, 2.37);
  auto rows = noisy_rows(t, 4);
  rows[2 * 48 + 5] = NAN;
  const auto found = run_fits(gpu, t, papers_fit(convolution_kind::block_fft), rows);
  EXPECT_NE(found.status[2], 0);
  EXPECT_EQ(found.maps[map_kl][2], 0);
  EXPECT_EQ(found.status[3], 0);
  EXPECT_GT(found.maps[map_kl][3], 0);
}

}  // namespace
