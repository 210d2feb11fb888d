#pragma once

#include <string_view>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace voxherd {

/// Whether this processor supports all instructions of a level of x86-64 ("x86-64-v2" to "x86-64-v4") or of Arm
/// ("armv8.1-a", "armv8-a+sve"); true for any other word.
inline bool processor_supports([[maybe_unused]] std::string_view level) {
#if defined(__x86_64__) && defined(__clang__)
  // Clang before version 18 knows no levels. Processors that have these instructions have the others of the level.
  const auto v2 = [] { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); };
  const auto v3 = [&] {
    return v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  };
  if (level == "x86-64-v2") return v2();
  if (level == "x86-64-v3") return v3();
  if (level == "x86-64-v4")
    return v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#elif defined(__x86_64__)
  // The compiler accepts only literals.
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#elif defined(__aarch64__)
  if (level == "armv8.1-a") return (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
  if (level == "armv8-a+sve") return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#endif
  return true;
}

}  // namespace voxherd
