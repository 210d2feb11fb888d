#include "src/app/program.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/device/cpu_level.hpp"
#include "kernels/device/processor.hpp"

namespace voxherd {
namespace {

bool supports_up_to_v2(std::string_view level) { return level != "x86-64-v3" && level != "x86-64-v4"; }

#if defined(__x86_64__)
/// The registers of one leaf of the cpuid instruction, as in AMD's and Intel's manuals; zeros for a missing leaf.
struct cpuid_leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit cpuid_leaf(unsigned leaf) { __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx); }
};

bool has_bits(std::uint64_t word, std::initializer_list<int> bits) {
  return std::all_of(bits.begin(), bits.end(), [&](int bit) { return (word >> bit & 1) != 0; });
}

/// Which registers the operating system saves (XCR0); zero if it saves only those of x86-64-v2.
std::uint64_t saved_registers() {
  if (!has_bits(cpuid_leaf(1).ecx, {27})) return 0;  // OSXSAVE
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

// The levels are defined in the x86-64 psABI, section 3.1.1. Flags in /proc/cpuinfo are not evidence: the kernel of a
// virtual machine may leave out a name (abm, for LZCNT) of an instruction that the processor has.
TEST(Processor, SupportsTheLevelsThatItsInstructionsMakeUp) {
  const cpuid_leaf basic(1), extended(7), amd(0x80000001);
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF.
  const bool v2 = has_bits(basic.ecx, {0, 9, 13, 19, 20, 23}) && has_bits(amd.ecx, {0});
  // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; saved SSE and AVX registers.
  const bool v3 = v2 && has_bits(basic.ecx, {12, 22, 28, 29}) && has_bits(extended.ebx, {3, 5, 8}) &&
                  has_bits(amd.ecx, {5}) && has_bits(saved_registers(), {1, 2});
  // AVX-512 F, DQ, CD, BW, VL; saved masks, upper halves, and registers 16 to 31.
  const bool v4 = v3 && has_bits(extended.ebx, {16, 17, 28, 30, 31}) && has_bits(saved_registers(), {5, 6, 7});
  EXPECT_EQ(processor_supports("x86-64-v2"), v2);
  EXPECT_EQ(processor_supports("x86-64-v3"), v3);
  EXPECT_EQ(processor_supports("x86-64-v4"), v4);
}
#endif

TEST(Processor, OneThatIsTooOldIsNamedWithWhatToBuild) {
  const std::string why = why_level_cannot_run("x86-64-v3", "x86-64-v3", supports_up_to_v2);
  EXPECT_NE(why.find("built for x86-64-v3 processors, and this one is x86-64-v2"), std::string::npos) << why;
  EXPECT_NE(why.find("script/setup --cpu-arch x86-64-v2"), std::string::npos) << why;
}

TEST(Processor, AnArmOneIsNamedByItsOwnLevels) {
  const std::string why = why_level_cannot_run("native", "armv8-a+sve", [](std::string_view) { return false; });
  EXPECT_NE(why.find("built for armv8-a+sve (native) processors, and this one is armv8-a;"), std::string::npos) << why;
  EXPECT_NE(why.find("script/setup --cpu-arch armv8-a"), std::string::npos) << why;
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
