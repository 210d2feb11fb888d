#include "core/control_groups.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// The first number of a file; none if the file is missing or begins with a word ("max": no limit).
std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// Calls `read` for the folder of the process's group below `mount`, and for those above it, up to the mount itself.
/// In a namespace or container the mount is the container's own group, and the group's name may be one of the host,
/// which does not exist here.
void for_each_group(const fs::path& mount, const std::string& group, const std::function<void(const fs::path&)>& read) {
  fs::path below = fs::path(group).relative_path();
  if (group.find("..") != std::string::npos) below.clear();  // outside of the namespace
  for (; !below.empty(); below = below.parent_path()) read(mount / below);
  read(mount);
}

void lower_limit(double& limit, double other) {
  if (other > 0 && (limit == 0 || other < limit)) limit = other;
}

/// The limits of version 1 are there for every group; this and more stands for none.
constexpr double unlimited_bytes = 1e18;

void read_memory(const fs::path& folder, control_group_limits& limits) {
  for (const char* const name : {"memory.max", "memory.limit_in_bytes"}) {
    const auto bytes = number_in(folder / name);
    if (!bytes || *bytes <= 0 || *bytes >= unlimited_bytes) continue;
    auto least = static_cast<double>(limits.memory_bytes);
    lower_limit(least, *bytes);
    limits.memory_bytes = static_cast<std::uint64_t>(least);
  }
}

void read_cpus(const fs::path& folder, control_group_limits& limits) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period && period > 0) lower_limit(limits.cpus, quota / period);
  const auto old_quota = number_in(folder / "cpu.cfs_quota_us"), old_period = number_in(folder / "cpu.cfs_period_us");
  if (old_quota && old_period && *old_quota > 0 && *old_period > 0) lower_limit(limits.cpus, *old_quota / *old_period);
}

void read_processes(const fs::path& folder, control_group_limits& limits) {
  const auto most = number_in(folder / "pids.max"), now = number_in(folder / "pids.current");
  if (!most) return;
  const auto more = static_cast<std::uint64_t>(std::max(0.0, *most - now.value_or(0)));
  limits.more_processes = std::min(limits.more_processes.value_or(more), more);
}

}  // namespace

control_group_limits read_control_groups(const std::string& root) {
  control_group_limits limits;
  const fs::path mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  // NUMBER:CONTROLLERS:GROUP, cgroups(7); version 2 has the number 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string listed = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (listed.empty()) {
      for (const fs::path& place : {mount, mount / "unified"}) {
        for_each_group(place, group, [&](const fs::path& folder) {
          read_memory(folder, limits);
          read_cpus(folder, limits);
          read_processes(folder, limits);
        });
      }
    }
    std::istringstream controllers(listed);
    for (std::string controller; std::getline(controllers, controller, ',');) {
      const auto read = controller == "memory" ? read_memory
                        : controller == "cpu"  ? read_cpus
                        : controller == "pids" ? read_processes
                                               : nullptr;
      if (read == nullptr) continue;
      // Mounted by its own name, as a link or not, or by the complete list.
      std::error_code ignored;
      const fs::path own = mount / controller, all = mount / listed;
      for_each_group(fs::is_directory(own, ignored) ? own : all, group,
                     [&](const fs::path& folder) { read(folder, limits); });
    }
  }
  return limits;
}

int within_quota(int cores, const control_group_limits& limits) {
  if (limits.cpus <= 0 || limits.cpus >= cores) return cores;
  return std::max(1, static_cast<int>(std::ceil(limits.cpus)));
}

int usable_cores() {
  cpu_set_t own;
  CPU_ZERO(&own);
  // With more cores than a cpu_set_t holds (1024) it fails.
  const long cores = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : sysconf(_SC_NPROCESSORS_ONLN);
  return within_quota(std::max(1, static_cast<int>(cores)));
}

std::uint64_t memory_within_group(std::uint64_t standard_bytes, const control_group_limits& limits) {
  constexpr std::uint64_t other_bytes = 1'500'000'000;
  if (limits.memory_bytes == 0) return standard_bytes;
  const std::uint64_t rest = limits.memory_bytes - std::min(limits.memory_bytes, other_bytes);
  return std::min(standard_bytes, std::max(rest, limits.memory_bytes / 4));
}

}  // namespace voxherd
