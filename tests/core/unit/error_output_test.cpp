#include "core/error_output.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace voxherd;

namespace {

std::string printed(const std::string& message) {
  ::testing::internal::CaptureStderr();
  print_error(message);
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace

TEST(ErrorOutput, IsOneLineWhateverNamesAreInIt) {
  EXPECT_EQ(printed("a\nb\xff.nii: is empty"), "voxherd: error: a\\x0ab\\xff.nii: is empty\n");
}

TEST(ErrorOutput, LosesTheMiddleOfALongMessage) {
  const std::string text = printed("begin" + std::string(100000, 'x') + "end");
  EXPECT_LT(text.size(), 2100);
  EXPECT_NE(text.find("beginx"), std::string::npos);
  EXPECT_NE(text.find("xend\n"), std::string::npos);
}
