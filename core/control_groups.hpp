#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace voxherd {

/// Limits of this process's control groups and of those above them, of version 1 and 2: those of a job of SLURM, of a
/// container, of a user's session.
struct control_group_limits {
  std::uint64_t memory_bytes = 0;               ///< 0: no limit
  double cpus = 0;                              ///< time of so many cores (cpu.max, cpu.cfs_quota_us); 0: no limit
  std::optional<std::uint64_t> more_processes;  ///< that may be started (pids.max less those there are); none: no limit
};

/// `root`: a folder with other /proc and /sys, for tests.
control_group_limits read_control_groups(const std::string& root = "");

/// So many cores, or those whose time the control groups allow, rounded up, if that is less.
int within_quota(int cores, const control_group_limits& limits = read_control_groups());

/// The cores on which this process may run, within its quota. At least 1.
int usable_cores();

/// Of the memory that a run takes by default for compressed images, what a control group leaves room for: the programs
/// of a job need some memory for other things.
std::uint64_t memory_within_group(std::uint64_t standard_bytes,
                                  const control_group_limits& limits = read_control_groups());

}  // namespace voxherd
