#include "src/scan/node_cores.hpp"

#include <algorithm>
#include <vector>

namespace voxherd {

node_cores::node_cores(const session& s) {
  cpu_set_t own;
  CPU_ZERO(&own);
  // With more cores than a cpu_set_t holds (1024) the set stays empty: then one thread.
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  CPU_ZERO(&cores_);
  for (const cpu_set_t& set : s.node_all_gather(own)) CPU_OR(&cores_, &cores_, &set);
}

int node_cores::count() const { return std::max(1, CPU_COUNT(&cores_)); }

void node_cores::use_all() const { (void)sched_setaffinity(0, sizeof cores_, &cores_); }

}  // namespace voxherd
