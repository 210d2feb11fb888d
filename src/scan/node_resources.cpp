#include "src/scan/node_resources.hpp"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "core/control_groups.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/column_inflater.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

node_cores::node_cores(const session& s) {
  cpu_set_t own;
  CPU_ZERO(&own);
  // With more cores than a cpu_set_t holds (1024) the set stays empty: then one thread.
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  CPU_ZERO(&cores_);
  for (const cpu_set_t& set : s.node_all_gather(own)) CPU_OR(&cores_, &cores_, &set);
}

int node_cores::count() const { return within_quota(std::max(1, CPU_COUNT(&cores_))); }

void node_cores::use_all() const { (void)sched_setaffinity(0, sizeof cores_, &cores_); }

int loading_threads(const session& s) {
  constexpr int max_threads = 16;
  return std::clamp(node_cores(s).count() / s.node_size(), 1, max_threads);
}

std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items) {
  double per_voxel = 0;
  for (const auto& files : series)
    if (is_compressed(files)) per_voxel += stored_columns::bytes_per_voxel(files);
  const auto limit = static_cast<double>(bytes);
  if (static_cast<double>(items) * per_voxel <= limit) return staged_input::all_items;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limit / (2 * per_voxel)));
}

}  // namespace voxherd
