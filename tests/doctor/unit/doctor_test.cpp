#include <gtest/gtest.h>

#include "src/commands/doctor/checks.hpp"

namespace voxherd {

namespace {

// index, name, driver, memory in MiB and its used part, uncorrectable ECC errors, ECC, persistence, compute mode, MIG
const char* const healthy = "0, NVIDIA H200, 580.159.04, 143771, 4, 0, Enabled, Enabled, Default, Disabled\n";

std::vector<std::string> texts(const findings& all, verdict how) {
  std::vector<std::string> found;
  for (const finding& f : all)
    if (f.how == how) found.push_back(f.text);
  return found;
}

TEST(Doctor, HealthyGpuIsOneLine) {
  const findings found = judge_gpus(healthy);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].how, verdict::fine);
  EXPECT_EQ(found[0].subject, "GPU 0");
  EXPECT_EQ(found[0].text, "NVIDIA H200, 143771 MiB, driver 580.159.04");
}

TEST(Doctor, UncorrectableErrorsAreAProblem) {
  const findings found =
      judge_gpus(healthy + std::string("1, NVIDIA A100, 550.54, 81920, 0, 3, Enabled, Enabled, Default, Disabled\n"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].how, verdict::problem);
  EXPECT_EQ(found[1].subject, "GPU 1");
  EXPECT_NE(found[1].text.find("3 uncorrectable memory errors"), std::string::npos);
}

TEST(Doctor, EachReasonIsNamed) {
  const findings found =
      judge_gpus("2, NVIDIA A100, 550.54, 81920, 40000, 0, Disabled, Disabled, Prohibited, Enabled\n");
  EXPECT_EQ(texts(found, verdict::problem).size(), 1u);  // compute mode
  EXPECT_EQ(texts(found, verdict::advice).size(), 4u);   // ECC, memory, persistence, MIG
  EXPECT_EQ(texts(found, verdict::fine).size(), 0u);
}

TEST(Doctor, CardsWithoutEccAreFine) {
  EXPECT_EQ(
      judge_gpus("0, NVIDIA GeForce RTX 4090, 550.54, 24564, 300, [N/A], [N/A], Enabled, Default, [N/A]\n")[0].how,
      verdict::fine);
}

TEST(Doctor, KernelsRunOnTheGpusThatTheyAreBuiltFor) {
  const std::string released = "80-real,90";
  for (const int newer : {80, 86, 89, 90, 100, 120}) EXPECT_TRUE(kernels_run_on(newer, released)) << newer;
  for (const int older : {70, 75}) EXPECT_FALSE(kernels_run_on(older, released)) << older;
  EXPECT_FALSE(kernels_run_on(100, "90-real")) << "machine code of another generation";
  EXPECT_TRUE(kernels_run_on(70, "all-major")) << "unknown";
}

TEST(Doctor, OtherTextIsNoGpu) {
  EXPECT_TRUE(judge_gpus("").empty());
  EXPECT_TRUE(judge_gpus("No devices were found\n").empty());
}

}  // namespace

}  // namespace voxherd
