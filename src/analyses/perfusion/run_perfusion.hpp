#pragma once

#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// `voxherd perfusion`: inputs, the mean curve's fit and its files, every voxel's fit, a summary.
/// Collective; throws failure, the same on every rank.
exit_status run_perfusion(session& s, const perfusion_request& request);

}  // namespace voxherd
