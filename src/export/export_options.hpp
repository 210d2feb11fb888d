#pragma once

#include <cstddef>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Files that this rank compresses at once: as asked, or for 0 its share of the cores it may run on, 8 at most.
/// Throws failure (usage).
int export_threads(const session& s, long long asked);

/// Samples that each of `threads` may hold while it brings them from voxel order into volume order: 1 GiB a rank.
std::size_t chunk_bytes_for(int threads);

}  // namespace voxherd
