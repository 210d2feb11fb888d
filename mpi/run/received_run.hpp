#pragma once

#include <functional>
#include <span>

#include "mpi/run/run.hpp"

namespace voxherd {

/// Receives the outputs of a batch, as in batch_runner::run().
using batch_receiver = std::function<void(const batch&, std::span<const std::span<const std::byte>> outputs)>;

/// As run(). `receive` is called once for every batch, on one rank, by its main thread: with what the rank has computed
/// or, of a file that is resumed or complete, read. Batches come in any order. The file of a step (settings.is_step) is
/// then only for --resume: it is not created in the first seconds (VOXHERD_UNSTORED_SECONDS, default 10), does not have
/// the batches of this time, and stays OUT.part.
exit_status run_received(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                         const batch_receiver& receive);

}  // namespace voxherd
