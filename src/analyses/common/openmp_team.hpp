#pragma once

#include <omp.h>

namespace voxherd {

/// Ends the threads that OpenMP keeps for the thread that has this object, and waits for them. Otherwise they end some
/// time after it, perhaps while the program ends and libraries remove what threads use.
struct openmp_team {
  ~openmp_team() { omp_pause_resource_all(omp_pause_soft); }
};

}  // namespace voxherd
