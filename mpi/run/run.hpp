#pragma once

#include <memory>
#include <string>

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

/// Runs the analysis over all ranks into settings.out. Collective; every rank returns the same status:
/// complete, or interrupted after a signal. Throws failure, the same on every rank; with several ranks a failure during
/// the work ends all of them with its status and one message (MPI_Abort).
exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device);

/// As run(), for one step of a command. `receive`, unless empty, is called once for every batch, on one rank, by its
/// main thread: with what the rank has computed or, of a file that is resumed or complete, read. Batches come in any
/// order. The file of an intermediate step with a receiver is only for --resume: it is not created in the first seconds
/// (VOXHERD_UNSTORED_SECONDS, default 10), does not have the batches of this time, and stays OUT.part.
exit_status run_step(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                     const step_context& step, const batch_receiver& receive = {});

/// Before any work: whether settings.out is already a complete result of this study (--resume). Compares analysis,
/// version, configuration and inputs. Throws failure, as run() would, if settings.out or its OUT.part prevents the
/// start. Collective; the same on every rank. Logs nothing; see log_nothing_to_do() in mpi/run/study.hpp.
bool is_already_complete(const session& s, const std::string& analysis, const run_settings& settings,
                         const device_hooks& device);

/// What is computed instead of an analysis. Only a test's program sets it, in main, to let devices fail; null: the
/// analysis itself. It is not a setting, because every command between main and the runs would have to pass it on.
using analysis_wrapper = std::unique_ptr<analysis> (*)(analysis&);
extern analysis_wrapper wrap_analysis;

}  // namespace voxherd
