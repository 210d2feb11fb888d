#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// The part of the layout that is known before the items.
result_layout begin_layout(const std::string& analysis, const run_settings& settings, const device_hooks& device);

/// Everything except the batches; the same on every rank. Collective. Throws failure if an analysis is inconsistent or
/// has no items.
result_layout make_layout(const session& s, const analysis& a, const run_settings& settings,
                          const device_hooks& device);

/// Adds the devices of all ranks and makes configuration and provenance the same on every rank. Collective.
void share_descriptions(const session& s, const device_hooks& device, result_layout& layout);

/// The batches of a new run, the same on every rank: from the input and the smallest device memory of all ranks.
/// Collective.
std::vector<batch> new_plan(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                            const result_layout& layout);

/// Expected relative speeds of ranks with and without a GPU, used only for the first batches, until speeds are
/// measured. Empty if all ranks are of one kind. Collective.
std::vector<double> believed_speeds(const session& s, const device_hooks& device);

}  // namespace voxherd
