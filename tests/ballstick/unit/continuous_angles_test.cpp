#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "src/analyses/common/continuous_angles.hpp"

namespace {

using voxherd::make_continuous;

constexpr float pi = std::numbers::pi_v<float>;

float mean(const std::vector<float>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0f) / static_cast<float>(samples.size());
}

TEST(ContinuousAngles, LeaveSamplesWithoutAJumpAsTheyAre) {
  const std::vector<float> before{3.1f, 2.9f, 0.5f, -1.0f, 1.2f};
  std::vector<float> samples = before;
  make_continuous(samples);
  EXPECT_EQ(samples, before);
}

TEST(ContinuousAngles, HaveTheMeanOfTheAngleOnBothSidesOfPi) {
  std::vector<float> samples{3.1f, -3.1f, 3.0f, -3.0f, -3.05f, 3.05f};
  make_continuous(samples);
  EXPECT_NEAR(std::abs(mean(samples)), pi, 1e-5f);
  for (const float angle : samples) EXPECT_LT(std::abs(angle - mean(samples)), 0.2f);
}

TEST(ContinuousAngles, DifferFromTheGivenOnesByWholeTurns) {
  std::vector<float> given{3.1f, -3.1f, 0.1f, -2.0f, 2.0f, -3.0f, 1.0f, -1.5f};
  std::vector<float> samples = given;
  make_continuous(samples);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const float turns = (samples[i] - given[i]) / (2 * pi);
    EXPECT_NEAR(turns, std::round(turns), 1e-6f);
  }
}

TEST(ContinuousAngles, StayWithinHalfATurnOfTheirMeanIfTheyWindAround) {
  std::vector<float> samples;
  for (int i = 0; i < 50; ++i) samples.push_back(std::remainder(1.0f * static_cast<float>(i), 2 * pi));
  make_continuous(samples);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  EXPECT_LE(*most - *least, 2 * pi + 1e-5f);
}

TEST(ContinuousAngles, AreTheSameForAnEmptyAndASingleSample) {
  std::vector<float> none, one{2.0f};
  make_continuous(none);
  make_continuous(one);
  EXPECT_EQ(one, std::vector<float>{2.0f});
}

}  // namespace
