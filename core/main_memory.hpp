#pragma once

#include <cstdint>
#include <string>

namespace voxherd {

/// Main memory of this node, in bytes; 0: not known.
struct main_memory {
  std::uint64_t total = 0, available = 0;
  std::uint64_t job_limit = 0;      ///< the smallest limit of this process's control groups; 0: none
  std::uint64_t process_limit = 0;  ///< what `ulimit -v` and `ulimit -d` still let this process take; 0: no limit

  /// What this process may still take.
  std::uint64_t usable() const;
};
/// `root`: a folder with other /proc and /sys, for tests.
main_memory read_main_memory(const std::string& root = "");

/// For readers, before they allocate what a file states: throws failure (bad_data) if it is more than this process may
/// take. `what` begins the message: the file, and the sizes in it.
void require_memory(double bytes, const std::string& what, const main_memory& memory = read_main_memory());

}  // namespace voxherd
