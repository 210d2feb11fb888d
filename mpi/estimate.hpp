#pragma once

#include <cstdint>
#include <string>

#include "mpi/result_layout.hpp"
#include "mpi/run.hpp"

namespace voxherd {

/// What --dry-run prints: memory, disk and time of the run, the time from one small batch computed on rank 0's device
/// (and thrown away). Collective; the text is rank 0's.
std::string estimate(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                     const result_layout& layout, std::uint64_t pending_batches);

}  // namespace voxherd
