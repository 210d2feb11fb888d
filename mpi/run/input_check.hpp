#pragma once

#include "mpi/result/result_writer.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// At the end of the work, complete or stopped: throws, the same failure on every rank, if an input has changed. The
/// unfinished result is then closed and removed, because its batches may be from both versions of the input, and
/// --resume would accept them once the input is restored. `writer`: null if there is no file. Collective.
void refuse_changed_inputs(const session& s, const run_settings& settings, result_writer* writer);

}  // namespace voxherd
