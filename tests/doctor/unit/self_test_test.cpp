#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/command.hpp"
#include "src/commands/doctor/self_test.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

TEST(SelfTest, EveryAnalysisHasStoredNumbersAndAllOthersMakeInputs) {
  std::set<std::string> analyses, tested;
  for (const analysis_views* views : all_analysis_views()) analyses.insert(views->analysis);
  for (const self_test_case& c : self_test_cases()) {
    if (!c.means.empty()) tested.insert(c.command);
    EXPECT_NE(c.means.empty(), analyses.contains(c.command)) << c.command;
  }
  EXPECT_EQ(tested, analyses);
}

TEST(SelfTest, AMeanWithinItsToleranceIsRight) {
  EXPECT_EQ(judge_mean({"FA", 2, 0.25}, 2.5), "");
  EXPECT_EQ(judge_mean({"FA", 2, 0.25}, 1.5), "");
}

TEST(SelfTest, AnotherMeanIsNamedWithBothNumbers) {
  EXPECT_EQ(judge_mean({"FA", 2, 0.25}, 2.6), "mean of FA: expected 2 ± 0.5, found 2.6");
  EXPECT_NE(judge_mean({"FA", 2, 0.25}, std::numeric_limits<double>::quiet_NaN()), "");
}

}  // namespace

}  // namespace voxherd
