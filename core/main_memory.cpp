#include "core/main_memory.hpp"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/control_groups.hpp"
#include "core/failure.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

std::string proc_content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A line "NAME:  N kB" of a table in /proc, in bytes; 0 if it is missing.
std::uint64_t memory_line(const std::string& table, const std::string& name) {
  const std::size_t at = table.find(name + ":");
  if (at == std::string::npos) return 0;
  std::istringstream rest(table.substr(at + name.size() + 1));
  std::uint64_t kibibytes = 0;
  rest >> kibibytes;
  return kibibytes * 1024;
}

std::uint64_t read_process_limit(const std::string& root) {
  const std::string status = proc_content(root + "/proc/self/status");
  std::uint64_t least = 0;
  for (const auto& [resource, taken] : {std::pair(RLIMIT_AS, "VmSize"), std::pair(RLIMIT_DATA, "VmData")}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    const std::uint64_t used = std::min<std::uint64_t>(memory_line(status, taken), limit.rlim_cur);
    const std::uint64_t rest = std::max<std::uint64_t>(1, limit.rlim_cur - used);  // 0 stands for no limit
    least = least == 0 ? rest : std::min(least, rest);
  }
  return least;
}

}  // namespace

std::uint64_t main_memory::usable() const {
  std::uint64_t least = available;
  for (const std::uint64_t limit : {job_limit, process_limit})
    if (limit > 0 && limit < least) least = limit;
  return least;
}

main_memory read_main_memory(const std::string& root) {
  const std::string table = proc_content(root + "/proc/meminfo");
  main_memory memory{memory_line(table, "MemTotal"), memory_line(table, "MemAvailable"),
                     read_control_groups(root).memory_bytes, read_process_limit(root)};
  // Without /proc. What the disk cache could give up is not known then.
  struct sysinfo known {};
  if (memory.total == 0 && sysinfo(&known) == 0) {
    memory.total = std::uint64_t{known.totalram} * known.mem_unit;
    memory.available = (std::uint64_t{known.freeram} + known.bufferram) * known.mem_unit;
  }
  return memory;
}

void require_memory(double bytes, const std::string& what, const main_memory& memory) {
  const auto usable = static_cast<double>(memory.usable());
  if (usable == 0 || bytes <= usable) return;
  const bool is_limited = memory.usable() < memory.available;
  refuse_data(
      "{} would take {} of memory, but this process can have only {} ({}); is the file damaged? If it is right, give "
      "it {}",
      what, readable_bytes(bytes), readable_bytes(usable),
      is_limited ? "a limit of the job, the container or ulimit" : "what is free on this node",
      is_limited ? "a higher limit" : "a node with more memory");
}

}  // namespace voxherd
