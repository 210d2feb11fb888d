#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/analyses/perfusion/frames.hpp"
#include "src/analyses/perfusion/text_values.hpp"
#include "tests/perfusion/support/other_models.hpp"

using namespace voxherd;
using perfusion::signal_kind;

namespace {

const std::vector<std::uint8_t> all_of_10(10, 1);

std::vector<double> times(std::size_t n) {
  std::vector<double> t;
  for (std::size_t i = 0; i < n; ++i) t.push_back(2.0 * static_cast<double>(i));
  return t;
}

}  // namespace

TEST(perfusion_baseline, ends_before_the_first_frame_that_rises) {
  EXPECT_EQ(find_baseline({10, 11, 9, 10, 80, 300, 200, 120, 100, 90}, all_of_10), std::pair(0, 4));
}

TEST(perfusion_baseline, without_noise_ends_before_the_first_trace_above_a_fiftieth_of_the_peak) {
  EXPECT_EQ(find_baseline({0, 0, 0, 0.5, 3, 100, 80, 60, 50, 40}, all_of_10), std::pair(0, 4));
}

TEST(perfusion_baseline, ends_before_a_frame_three_deviations_above_those_before) {
  // The aorta of madym's abdominal series: the agent is injected in frame 7.
  EXPECT_EQ(find_baseline({150.5, 160.7, 152.2, 143.3, 150.5, 169.6, 162.8, 201.8, 1175.5, 923.6}, all_of_10),
            std::pair(0, 7));
  EXPECT_EQ(find_baseline({10, 11, 9, 10, 11, 9, 11.5, 300, 200, 120}, all_of_10), std::pair(0, 7));
}

TEST(perfusion_baseline, of_three_frames_does_not_tell_their_deviation) {
  EXPECT_EQ(find_baseline({10, 12, 8, 16.5, 300, 200, 120, 100, 90, 80}, all_of_10), std::pair(0, 4));
}

TEST(perfusion_baseline, starts_with_the_first_counted_frame) {
  const std::vector<std::uint8_t> counts{0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(find_baseline({500, 300, 9, 10, 10, 300, 200, 120, 100, 90}, counts), std::pair(2, 5));
}

TEST(perfusion_baseline, is_empty_if_the_curve_starts_at_its_peak) {
  const auto [begin, end] = find_baseline({300, 200, 100, 90, 80, 70, 60, 50, 40, 30}, all_of_10);
  EXPECT_EQ(begin, end);
}

TEST(perfusion_frames, skipped_ones_are_interpolated_and_extrapolated_as_constants) {
  std::vector<double> values{9, 2, 9, 9, 8, 1, 9, 9, 9, 9};
  bridge_skipped(times(10), {0, 1, 0, 0, 1, 1, 0, 0, 0, 0}, values);
  EXPECT_EQ(values, (std::vector<double>{2, 2, 4, 6, 8, 1, 1, 1, 1, 1}));
}

TEST(perfusion_frames, that_are_zero_or_mostly_not_numbers_are_not_counted) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Three voxels, six frames: frame 1 is zero, frame 3 has two values that are not numbers, frame 4 one.
  const std::vector<float> rows{1, 0, 2, nan, 3, 1, 1, 0, 2, nan, nan, 1, 1, 0, 2, 5, 3, 1};
  std::vector<std::uint8_t> counts(6, 1);
  drop_missing_frames(rows, 6, signal_kind::ct, counts);
  EXPECT_EQ(counts, (std::vector<std::uint8_t>{1, 0, 1, 0, 1, 1}));
}

TEST(perfusion_frames, concentrations_of_zero_are_padding_only_after_the_last_nonzero_frame) {
  const std::vector<float> rows{0, 0, 2, 3, 0, 1, 0, 0};
  std::vector<std::uint8_t> counts(8, 1);
  drop_missing_frames(rows, 8, signal_kind::concentration, counts);
  EXPECT_EQ(counts, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 0, 0}));
}

TEST(perfusion_frames, brighter_at_first_are_not_in_the_steady_state) {
  const std::vector<double> steady{100, 101, 99, 100, 101, 130, 180, 160, 150, 140};
  EXPECT_EQ(count_unsteady_frames(steady, all_of_10), 0U);
  std::vector<double> first = steady, second = steady;
  first[0] = 106;
  second[0] = 140, second[1] = 110;
  EXPECT_EQ(count_unsteady_frames(first, all_of_10), 1U);
  EXPECT_EQ(count_unsteady_frames(second, all_of_10), 2U);
  EXPECT_EQ(count_unsteady_frames(second, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1}), 1U);
  EXPECT_EQ(count_unsteady_frames(second, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1}), 0U);
}

TEST(perfusion_frames, noise_or_an_early_bolus_is_no_missing_steady_state) {
  EXPECT_EQ(count_unsteady_frames({110, 95, 108, 97, 104, 93, 106, 99, 101, 100}, all_of_10), 0U);
  EXPECT_EQ(count_unsteady_frames({100, 140, 180, 170, 160, 150, 140, 130, 125, 120}, all_of_10), 0U);
}

TEST(perfusion_frames, skipped_ones_are_printed_as_ranges) {
  EXPECT_EQ(text_of_skipped({1, 0, 1, 0, 0, 0, 1, 0}), "1, 3-5, 7");
  EXPECT_EQ(text_of_skipped({1, 1}), "");
}

TEST(perfusion_words, lists_of_frames_and_parameters_are_parsed) {
  using perfusion::frame_range;
  EXPECT_EQ(perfusion::parse_frames("3,41-47", "x"), (std::vector<frame_range>{{3, 3}, {41, 47}}));
  const auto values = perfusion::parse_ranges("tau_a=0:8,kl=1:2e3", "x", perfusion::info_of<perfusion::dual_model>);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].which, perfusion::tau_a);
  EXPECT_EQ(values[1].other, 2000);
  for (const char* wrong : {"", ",", "3-", "-3", "5-4", "1.5", "a"})
    EXPECT_THROW(perfusion::parse_frames(wrong, "x"), failure) << wrong;
  for (const char* wrong : {"", "kl", "kl=", "kl=1:2", "kl=nan", "kl=1,", "KL=1", "kl=1,kl=2"})
    EXPECT_THROW(perfusion::parse_values(wrong, "x", perfusion::info_of<perfusion::dual_model>), failure) << wrong;
}

TEST(perfusion_words, examples_are_of_the_models_own_parameters) {
  using namespace perfusion;
  const model_info &dual = info_of<dual_model>, &tofts = info_of<tofts_model>;
  EXPECT_EQ(list_parameters(dual), "kl, ka, kp (ml/100 g/min), tau_a, tau_p (s)");
  EXPECT_EQ(example_values(dual), "tau_p=0,kp=0");
  EXPECT_EQ(example_maps(dual), "ka,kp,mean_transit_time");
  EXPECT_EQ(list_parameters(tofts), "Ktrans (ml/100 g/min), ve (1), delay (s)");
  EXPECT_EQ(example_values(tofts), "delay=0,Ktrans=0");
  EXPECT_EQ(example_ranges(tofts), "delay=0:15,ve=0.01:1");
  EXPECT_EQ(example_maps(tofts), "Ktrans,ve,kep");
}
