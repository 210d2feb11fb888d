#pragma once

#include <string>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Rank 0 has the header; every other rank reads it for itself, which shows whether it sees the same file. Collective;
/// throws failure, the same on every rank.
void open_like_root(const session& s, const std::string& path, nifti_header& header);

}  // namespace voxherd
