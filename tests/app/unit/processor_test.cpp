#include "src/app/processor.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace voxherd {
namespace {

bool has_up_to_v2(std::string_view level) { return level != "x86-64-v3" && level != "x86-64-v4"; }

TEST(processor, lists_the_features_that_the_kernel_reports) {
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
  EXPECT_EQ(processor_has("x86-64-v3"), v3);
  EXPECT_EQ(processor_has("x86-64-v4"), v3 && lists("avx512f avx512bw avx512cd avx512dq avx512vl"));
}

TEST(processor, that_is_too_old_is_rejected_with_its_features_and_how_to_build) {
  const std::string why = why_kernels_cannot_run("x86-64-v3", has_up_to_v2);
  EXPECT_NE(why.find("built for x86-64-v3 processors, and this one is x86-64-v2"), std::string::npos) << why;
  EXPECT_NE(why.find("script/setup --cpu-arch x86-64-v2"), std::string::npos) << why;
}

TEST(processor, that_is_sufficient_or_a_build_without_requirements_is_accepted) {
  EXPECT_EQ(why_kernels_cannot_run("x86-64-v2", has_up_to_v2), "");
  EXPECT_EQ(why_kernels_cannot_run("native", has_up_to_v2), "");
  EXPECT_EQ(why_kernels_cannot_run("skylake-avx512"), "");
}

}  // namespace
}  // namespace voxherd
