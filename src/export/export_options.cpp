#include "src/export/export_options.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>

#include "core/failure.hpp"

namespace voxherd {

int export_threads(const session& s, long long asked) {
  constexpr int max_threads = 256, max_by_default = 8;
  if (asked < 0 || asked > max_threads)
    throw failure(exit_status::usage, fmt::format("--threads {}: expected 0 to {}", asked, max_threads));
  if (asked > 0) return static_cast<int>(asked);
  cpu_set_t own;
  CPU_ZERO(&own);
  const int cores = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1;
  return std::clamp(cores / s.node_size(), 1, max_by_default);
}

std::size_t chunk_bytes_for(int threads) { return (std::size_t{1} << 30) / static_cast<std::size_t>(threads); }

}  // namespace voxherd
