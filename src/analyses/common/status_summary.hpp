#pragma once

#include <string>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Logs how many voxels of a finished result were fitted, and how many not, and why: the codes of its `status` map.
/// Collective; rank 0 reads the file.
void log_status_summary(const session& s, const std::string& result);

}  // namespace voxherd
