#pragma once

#include <sched.h>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// The cores that the ranks of a node may run on, taken together. What one rank does while the others of its node
/// sleep may use all of them.
class node_cores {
 public:
  /// Collective over the ranks of a node.
  explicit node_cores(const session& s);
  int count() const;
  /// Lets the calling thread, and those it will start, run on all of them; where the system forbids that they stay
  /// where they may run.
  void let_in() const;

 private:
  cpu_set_t cores_;
};

}  // namespace voxherd
