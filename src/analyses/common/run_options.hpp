#pragma once

#include "core/device.hpp"
#include "core/options.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

const option_table<run_request>& run_options();

/// The settings of the run; `configuration` and `provenance` have their common entries (version, command line, hosts),
/// and callers may add more. Throws failure (usage) if --out is missing. Collective.
run_settings make_run_settings(const session& s, const run_request& request);

}  // namespace voxherd
