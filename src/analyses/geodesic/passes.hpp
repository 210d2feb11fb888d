#pragma once

#include <memory>

#include "core/device.hpp"
#include "mpi/run/run.hpp"
#include "src/analyses/geodesic/inputs.hpp"

namespace voxherd {

/// Scores every fibre, ranks them, integrates the winners again and writes them. Collective. `how` holds configuration
/// and provenance. Throws failure, the same on every rank.
exit_status run_passes(session& s, geodesic_inputs& inputs, const run_settings& how, const device& d);

/// The field that rays run in. Collective; calls use_device(d).
std::unique_ptr<tensor_field::field> prepare_field(const session& s, const geodesic_inputs& inputs, const device& d);

}  // namespace voxherd
