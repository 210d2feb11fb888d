#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// What there is to say about a run before its items are known.
result_layout begin_layout(const std::string& analysis, const run_settings& settings, const device_hooks& device);

/// All but the batches; the same on every rank. Collective. Throws failure where an analysis contradicts itself or has
/// nothing to do.
result_layout make_layout(const session& s, const analysis& a, const run_settings& settings,
                          const device_hooks& device);

/// Adds all ranks' devices, and makes configuration and provenance the same on every rank. Collective.
void share_descriptions(const session& s, const device_hooks& device, result_layout& layout);

/// The batches of a new run, the same on every rank: from the input, and from the least memory of any rank's device.
/// Collective.
std::vector<batch> new_plan(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                            const result_layout& layout);

/// Of ranks with and without a GPU, what to expect of them before they are measured: for the first batches alone. None
/// where all ranks are of one kind. Collective.
std::vector<double> believed_speeds(const session& s, const device_hooks& device);

}  // namespace voxherd
