#pragma once

#include <cstddef>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Number of files that this rank compresses at once: `asked`, or for 0 its share of the available cores, at most 8.
/// Throws failure (usage).
int export_threads(const session& s, long long asked);

/// Bytes of samples that each of `threads` may hold while reordering them from voxels to volumes: 1 GiB per rank.
std::size_t chunk_bytes_for(int threads);

}  // namespace voxherd
