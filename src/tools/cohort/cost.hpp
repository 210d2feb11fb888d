#pragma once

#include "mpi/result/result_reader.hpp"

namespace voxherd {

struct cost {
  double gpu_hours = 0, core_hours = 0;
};

/// What a result cost. Whole: wall time of its run times GPUs or CPU threads, earlier steps included; a resumed run
/// counts as if its earlier batches had taken as long as the later ones. Unfinished: the device's time in its finished
/// batches.
cost cost_of(const result_reader& result);

}  // namespace voxherd
