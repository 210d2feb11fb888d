#pragma once

#include <string>

#include "mpi/comm/session.hpp"
#include "src/tools/doctor/finding.hpp"

namespace voxherd {

/// Whether all ranks can write one result into this folder: space, locks, and a small result that is written by all of
/// them, read again and removed. Collective; the findings are those of rank 0.
findings check_folder(const session& s, const std::string& folder);

}  // namespace voxherd
