#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mpi/result/result_layout.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// Memory, disk and time of the run, the time from one small batch computed on rank 0's device (and thrown away).
/// Collective; the numbers are rank 0's.
run_estimate estimate(const session& s, analysis& a, const device_hooks& device, const result_layout& layout,
                      std::span<const std::uint64_t> pending);

/// What --dry-run prints.
std::string estimate_text(const run_estimate& e, const std::string& out);

/// The batch that a dry run tries, with the item in the middle of the image: one at its rim may be untypical. There is
/// at least one batch.
batch middle_batch(const result_layout& layout);

}  // namespace voxherd
