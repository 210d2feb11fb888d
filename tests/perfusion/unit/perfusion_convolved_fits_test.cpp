#include "tests/perfusion/support/perfusion_convolved_fits.hpp"

#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::perfusion;
using namespace voxherd::perfusion::convolutions;

TEST(ConvolvedFits, AllConvolutionsGiveTheSameFit) {
  for (const int frames : {48, 75, 128}) {
    const time_course t = test_course(frames, 120.0 / frames);
    const auto rows = noisy_rows(t, 21);
    const auto recursion = run_fits(two_threads, t, papers_fit(convolution_kind::recursion), rows);
    EXPECT_GT(recursion.maps[r_squared][0], 0.999f);
    expect_same_fits(run_fits(two_threads, t, papers_fit(convolution_kind::direct), rows), recursion);
    expect_same_fits(run_fits(two_threads, t, papers_fit(convolution_kind::block_fft), rows), recursion);
  }
}

TEST(ConvolvedFits, MissingFramesDoNotContributeToCosts) {
  time_course t = test_course(48, 2.37);
  const auto rows = noisy_rows(t, 5);
  auto spoilt = rows;
  for (const std::size_t missing : {3, 20, 47}) {
    t.counts[missing] = 0;
    for (std::size_t v = 0; v < 5; ++v) spoilt[v * 48 + missing] = 99;
  }
  for (const auto convolution : {convolution_kind::direct, convolution_kind::block_fft}) {
    const auto found = run_fits(two_threads, t, papers_fit(convolution), spoilt);
    EXPECT_EQ(found.maps, run_fits(two_threads, t, papers_fit(convolution), rows).maps);
    expect_same_fits(found, run_fits(two_threads, t, papers_fit(convolution_kind::recursion), rows));
  }
}

TEST(ConvolvedFits, MoreFramesThanTheBlockFftHasTablesForAreRejected) {
  const time_course t = test_course(max_block_fft_frames + 1, 0.2);
  EXPECT_THROW(make_fitter(two_threads, t, {}, papers_fit(convolution_kind::block_fft)), std::invalid_argument);
  EXPECT_NO_THROW(make_fitter(two_threads, t, {}, papers_fit(convolution_kind::direct)));
}

}  // namespace
