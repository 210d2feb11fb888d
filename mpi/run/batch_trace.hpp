#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"

namespace voxherd {

/// Times of the events of a batch, on its rank's steady_seconds(): the content of `--trace`.
struct batch_times {
  std::uint64_t number = 0, items = 0;
  std::uint32_t rank = 0, lane = 0;           ///< lane: which of the rank's device threads computed it
  double asked = 0;                           ///< the rank had room for a batch
  double read_begin = 0, read_end = 0;        ///< begins when the rank was granted the batch
  double compute_begin = 0, compute_end = 0;  ///< on the device, including copies to and from it
  double write_begin = 0, write_end = 0;      ///< results and journal entry
};

/// Writes CSV with one line per batch, in the order of their start, and the names above; times in seconds after
/// `origin`, each rank's own steady_seconds() when all ranks left a barrier. Collective; throws failure (disk), the
/// same on every rank.
void write_trace(const session& s, const named_output& output, std::vector<batch_times> own, double origin);

}  // namespace voxherd
