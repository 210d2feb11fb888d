#pragma once

#include <string>
#include <thread>
#include <vector>

#include "mpi/comm/session.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/run/lane_pool.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

named_output json_output(const run_settings& settings);
named_output trace_output(const run_settings& settings);

/// Throws failure if --json or --trace of a run that is about to start cannot be written, or would replace an input of
/// `provenance`, the result or its temporary files, or each other. Changes no file.
void check_run_outputs(const run_settings& settings, const nlohmann::json& provenance);

/// At the end of the work, complete or stopped: throws, the same failure on every rank, if an input has changed. The
/// unfinished result is then closed and removed, because its batches may be from both versions of the input, and
/// --resume would accept them once the input is restored. `writer`: null if there is no file. Collective.
void refuse_changed_inputs(const session& s, const run_settings& settings, result_writer* writer);

/// The last line of a command: which results it wrote, and a command that makes use of them, by their contents.
std::string ending_text(const run_settings& settings, const step_context& step, const result_layout& layout);

/// Logs it, unless the run is a step or part of a command that goes on. For rank 0.
void log_ending(const run_settings& settings, const step_context& step, const result_layout& layout);

/// Writes CSV with one line per batch, in the order of their start, and the names above; times in seconds after
/// `origin`, each rank's own steady_seconds() when all ranks left a barrier. Collective; throws failure (disk), the
/// same on every rank.
void write_trace(const session& s, const named_output& output, std::vector<batch_times> own, double origin);

/// Lets the kernel write a file's changed pages to disk while the run still writes to it, so that the flush at the end
/// has little left to do. Only that flush guarantees what is on disk. Ends with the thread's destructor, after the last
/// write request; does nothing if the file cannot be opened.
std::jthread write_back(const std::string& path);

}  // namespace voxherd
