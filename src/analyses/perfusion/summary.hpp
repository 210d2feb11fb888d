#pragma once

#include <string>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Logs medians over the fitted voxels of a finished result, how many ended at a bound, and how many did not converge.
/// Collective; rank 0 reads the file.
void log_perfusion_summary(const session& s, const std::string& result);

}  // namespace voxherd
