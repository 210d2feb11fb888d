#include <gtest/gtest.h>

#include "tests/ballstick/reference/ballstick_run.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// model, fibres, Rician, unattenuated
class BallstickSampler : public testing::TestWithParam<std::tuple<int, int, bool, bool>> {};

TEST_P(BallstickSampler, TakesTheReferencesFirstJumps) {
  ballstick_settings s;
  std::tie(s.model, s.fibres, s.rician, s.unattenuated) = GetParam();
  s.ard_unattenuated = s.fibres % 2 == 0;
  s.ard = s.fibres == 3 ? ard_fibres::all : s.fibres == 4 ? ard_fibres::none : ard_fibres::all_but_first;
  expect_same_first_jumps({backend::cpu, 1, 0}, s);
}

INSTANTIATE_TEST_SUITE_P(Models, BallstickSampler,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(1, 2, 3, 4), testing::Bool(),
                                          testing::Bool()));

TEST(BallstickDeviation, IsADifferentGradientTable) { expect_deviation_is_another_table({backend::cpu, 1, 0}, 45); }

TEST(BallstickOdds, ChooseTheNumberOfFibres) {
  for (const bool rician : {false, true}) expect_fibres_by_odds({backend::cpu, 2, 0}, rician);
}

}  // namespace
