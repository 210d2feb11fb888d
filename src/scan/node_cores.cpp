#include "src/scan/node_cores.hpp"

#include <algorithm>
#include <vector>

namespace voxherd {

node_cores::node_cores(const session& s) {
  cpu_set_t own;
  CPU_ZERO(&own);
  // With more cores than a cpu_set_t holds (1024) the set stays empty: then one thread.
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  std::vector<cpu_set_t> of_node(static_cast<std::size_t>(s.node_size()));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, of_node.data(), sizeof own, MPI_BYTE, s.node());
  CPU_ZERO(&cores_);
  for (const cpu_set_t& set : of_node) CPU_OR(&cores_, &cores_, &set);
}

int node_cores::count() const { return std::max(1, CPU_COUNT(&cores_)); }

void node_cores::use_all() const { (void)sched_setaffinity(0, sizeof cores_, &cores_); }

}  // namespace voxherd
