#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// When what happened to a batch, on its rank's steady_seconds(): what `--trace` writes.
struct batch_times {
  std::uint64_t number = 0, items = 0;
  std::uint32_t rank = 0, lane = 0;           ///< lane: which of the rank's driving threads computed it
  double asked = 0;                           ///< the rank had room for a batch
  double read_begin = 0, read_end = 0;        ///< begins when it was told that the batch is its own
  double compute_begin = 0, compute_end = 0;  ///< on the device, copies to and from it included
  double write_begin = 0, write_end = 0;      ///< results and journal entry
};

/// One line a batch, in the order in which they were begun, as CSV with the names above; times in seconds after
/// `origin`, each rank's own steady_seconds() when all ranks left a barrier. Collective; throws failure (disk), the
/// same on every rank.
void write_trace(const session& s, const std::string& path, std::vector<batch_times> own, double origin);

}  // namespace voxherd
