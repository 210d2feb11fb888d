#pragma once

#include "mpi/run/run.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Expected times of the steps after the arrival times, on `ranks` ranks like this one, from the estimate of that step.

/// Each batch of paths solves for its fronts again. The largest time: each pair may need the front of either region.
later_step predict_paths(const connect_inputs& inputs, int ranks, const run_estimate& arrivals);

/// Fits and prepares one replicate to time it; its fronts take as long as those of the data.
later_step predict_bootstrap(const connect_inputs& inputs, const device& d, int ranks, const run_estimate& arrivals);

}  // namespace voxherd
