#pragma once

#include "mpi/comm/session.hpp"
#include "src/tools/doctor/finding.hpp"

namespace voxherd {

/// How the ranks were started, and which cores they may use. Collective; the findings are those of rank 0.
findings check_ranks(const session& s);

/// SLURM's part in it. Rank 0's environment is enough.
findings check_slurm(const session& s);

}  // namespace voxherd
