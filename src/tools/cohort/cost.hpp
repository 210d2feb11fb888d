#pragma once

#include "mpi/result/result_reader.hpp"

namespace voxherd {

struct cost {
  double gpu_hours = 0, core_hours = 0;
};

/// The cost of a result. Complete: wall time of its run times GPUs or CPU threads, including earlier steps; for a
/// resumed run, earlier batches are assumed to have taken as long as the later ones. Unfinished: device time of its
/// finished batches.
cost read_cost(const result_reader& result);

}  // namespace voxherd
