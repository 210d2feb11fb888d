#include "src/app/processor.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "kernels/device/cpu_level.hpp"

namespace voxherd {
namespace {

bool supports_up_to_v2(std::string_view level) { return level != "x86-64-v3" && level != "x86-64-v4"; }

TEST(Processor, SupportsWhatTheKernelLists) {
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (flags.empty() && std::getline(file, line)) {
    if (line.starts_with("flags")) flags = " " + line + " ";
  }
  if (flags.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const auto lists = [&](const std::string& names) {
    std::istringstream words(names);
    bool all = true;
    for (std::string word; words >> word;) all = all && flags.find(" " + word + " ") != std::string::npos;
    return all;
  };
  const bool v3 = lists("avx avx2 bmi1 bmi2 f16c fma abm movbe");
  EXPECT_EQ(processor_supports("x86-64-v3"), v3);
  EXPECT_EQ(processor_supports("x86-64-v4"), v3 && lists("avx512f avx512bw avx512cd avx512dq avx512vl"));
}

TEST(Processor, OneThatIsTooOldIsNamedWithWhatToBuild) {
  const std::string why = why_level_cannot_run("x86-64-v3", "x86-64-v3", supports_up_to_v2);
  EXPECT_NE(why.find("built for x86-64-v3 processors, and this one is x86-64-v2"), std::string::npos) << why;
  EXPECT_NE(why.find("script/setup --cpu-arch x86-64-v2"), std::string::npos) << why;
}

TEST(Processor, OneThatIsOlderThanTheMachineOfANativeBuildIsNamed) {
  const std::string why = why_level_cannot_run("native", "x86-64-v4", supports_up_to_v2);
  EXPECT_NE(why.find("built for x86-64-v4 (native) processors"), std::string::npos) << why;
}

TEST(Processor, ASufficientOneIsAccepted) {
  EXPECT_EQ(why_level_cannot_run("x86-64-v2", "x86-64-v2", supports_up_to_v2), "");
  EXPECT_EQ(why_level_cannot_run("native", "x86-64-v2", supports_up_to_v2), "");
}

TEST(Processor, RunsTheKernelsOfThisProgram) {
  ASSERT_GE(cpu_level_count, 1);
  ASSERT_LT(running_cpu_level, cpu_level_count);
  EXPECT_TRUE(processor_supports(cpu_levels[running_cpu_level].required));
  EXPECT_EQ(why_kernels_cannot_run(), "");
}

}  // namespace
}  // namespace voxherd
