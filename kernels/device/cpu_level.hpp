#pragma once

namespace voxherd {

/// A version of the CPU kernels that the program contains. cmake/cpu_levels.cmake generates the list.
struct cpu_level {
  const char* name;      ///< name in VOXHERD_CPU_ARCH: "native", "armv8-a", "x86-64-v3", ...
  const char* required;  ///< level of x86-64 or Arm that the processor must support
};

extern const cpu_level cpu_levels[];  ///< lowest first
extern const int cpu_level_count;
extern int running_cpu_level;  ///< index of the one that is used; chosen before main

}  // namespace voxherd
