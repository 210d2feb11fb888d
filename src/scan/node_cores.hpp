#pragma once

#include <sched.h>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// All cores that the ranks of a node may run on. One rank may use them while the others of its node sleep.
class node_cores {
 public:
  /// Collective over the ranks of a node.
  explicit node_cores(const session& s);
  int count() const;
  /// Lets the calling thread and the threads that it starts run on all of these cores. Has no effect if the system
  /// forbids it.
  void use_all() const;

 private:
  cpu_set_t cores_;
};

}  // namespace voxherd
