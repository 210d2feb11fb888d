#include <gtest/gtest.h>

#include "kernels/track/walker_parts.hpp"

namespace voxherd::track {
namespace {

constexpr half_fate reject = half_fate::reject, wait = half_fate::wait, accept = half_fate::accept;

TEST(TrackAcceptance, CountsTheHalvesOfEveryCombination) {
  struct row {
    half_fate first, second;
    unsigned counted;  // bit 0: first half, bit 1: second half
  };
  for (const row& r :
       {row{reject, reject, 0}, row{reject, wait, 0}, row{reject, accept, 2}, row{wait, reject, 0}, row{wait, wait, 0},
        row{wait, accept, 3}, row{accept, reject, 1}, row{accept, wait, 1}, row{accept, accept, 3}})
    EXPECT_EQ(counted_halves(r.first, r.second), r.counted)
        << static_cast<int>(r.first) << ", " << static_cast<int>(r.second);
}

TEST(TrackAcceptance, JudgesByTheIncludeRule) {
  struct row {
    include_rule rule;
    bool each_half;
    half_fate none, some, all;
  };
  for (const row& r :
       {row{include_rule::all, false, reject, wait, accept}, row{include_rule::all, true, reject, reject, accept},
        row{include_rule::one, false, reject, accept, accept}, row{include_rule::one, true, reject, accept, accept}}) {
    walk_settings how;
    how.includes = 3;
    how.rule = r.rule;
    how.each_half = r.each_half;
    half_record half;
    for (std::uint32_t passed = 0; passed < 8; ++passed) {
      half.passed = passed;
      const half_fate expected = passed == 0 ? r.none : passed == 7 ? r.all : r.some;
      EXPECT_EQ(judge(half, how), expected) << passed;
    }
  }
}

TEST(TrackAcceptance, ExcludedShortUnconnectedAndUnorderedHalvesAreRejected) {
  for (int bits = 0; bits < 32; ++bits) {
    const bool excluded = (bits & 1) != 0, is_short = (bits & 2) != 0, alone = (bits & 4) != 0,
               unordered = (bits & 8) != 0, order_matters = (bits & 16) != 0;
    walk_settings how;
    how.connectome = true;
    how.min_steps = 10;
    how.includes = 2;
    how.ordered = order_matters;
    half_record half;
    half.excluded = excluded;
    half.steps = is_short ? 9 : 10;
    half.other_region = !alone;
    half.out_of_order = unordered;
    half.passed = 3;
    const bool rejected = excluded || is_short || alone || (unordered && order_matters);
    EXPECT_EQ(judge(half, how), rejected ? reject : accept) << bits;
  }
}

TEST(TrackAcceptance, WithoutConditionsEveryHalfIsAccepted) {
  const walk_settings how;
  EXPECT_FALSE(how.has_conditions());
  EXPECT_EQ(judge({}, how), accept);
}

}  // namespace
}  // namespace voxherd::track
