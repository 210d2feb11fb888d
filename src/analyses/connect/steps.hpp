#pragma once

#include "core/device.hpp"
#include "mpi/run/run.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Solves for every region's front, finds out what the command was asked for, and writes it. Collective. `how` holds
/// configuration and provenance. Throws failure, the same on every rank.
exit_status run_connect_steps(session& s, const connect_inputs& inputs, const run_settings& how, const device& d);

}  // namespace voxherd
