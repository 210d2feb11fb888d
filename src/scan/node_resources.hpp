#pragma once

#include <sched.h>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// The cores that the ranks of a node may run on. One rank may use them while the others of its node sleep.
class node_cores {
 public:
  /// Collective over the ranks of a node.
  explicit node_cores(const session& s);
  int count() const;  ///< at most those whose time the control groups allow
  /// Lets the calling thread and the threads that it starts run on all of these cores. Has no effect if the system
  /// forbids it.
  void use_all() const;

 private:
  cpu_set_t cores_;
};

/// Threads that load a batch's values on a rank. Collective over the ranks of a node.
int loading_threads(const session& s);

/// Maximum number of files inflated at the same time.
constexpr std::size_t max_files_at_once = 8;

/// Number of voxels, of `items`, whose values are kept in memory at once so that those of all series (on one grid) need
/// at most `bytes` on a node. All items if they fit; otherwise half of what fits, because the next stage is loaded
/// while the current one is computed. At least 1. Series without a compressed file need nothing.
std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items);

}  // namespace voxherd
