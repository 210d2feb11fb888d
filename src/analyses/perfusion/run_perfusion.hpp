#pragma once

#include "core/command.hpp"
#include "mpi/run/run.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

/// `voxherd perfusion`: inputs, the mean curve's fit, its files beside the result, every voxel's fit, a summary.
/// Collective; throws failure, the same on every rank.
exit_status run_perfusion(session& s, const arguments& args, run_settings how, const chosen_device& d);

}  // namespace voxherd
