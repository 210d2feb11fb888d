#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/device_record.hpp"
#include "core/failure.hpp"
#include "core/plan.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

/// Expected time of a step that works on the results of an earlier one.
struct later_step {
  std::string name;
  double seconds = 0;
  bool is_bound = false;  ///< the largest time; how much there is to do depends on the earlier steps
  std::string from;       ///< what it was computed from, for the reader
};

/// Result of a dry run: sizes in bytes, times in seconds.
struct run_estimate {
  std::string analysis;
  std::string step;  ///< "" for a single run
  std::string item = "voxel";
  device_record device;  ///< of rank 0, where the time was measured
  std::uint64_t items = 0, batches = 0, largest_batch = 0, pending_batches = 0;
  int ranks = 1;
  double batch_bytes = 0;      ///< host memory of a rank for its batches
  double gpu_batch_bytes = 0;  ///< the same for a GPU with unlimited memory
  double process_bytes = 0;    ///< peak of rank 0, without the memory shared by the ranks of its node
  double node_bytes = 0;       ///< memory shared by the ranks of a node
  double device_bytes = 0, free_device_bytes = 0;  ///< 0 if the device is the host
  double disk_bytes = 0;
  std::uint64_t probed_items = 0;  ///< computed on rank 0's device, in probe_seconds; 0: none
  double probe_seconds = 0;        ///< the fastest of several tries
  double mean_seconds = 0;         ///< of the tries: longer than the fastest where other programs use the machine
  double load_per_core = 0;        ///< programs that ran on rank 0's host in the minute before, per core
  double run_seconds = 0;          ///< of the run on these ranks and devices
  double seconds = 0;              ///< the same with the later steps
  std::vector<later_step> later;
  std::vector<std::string> not_estimated;  ///< names of later steps
};

/// Callbacks for a command that runs another command.
struct run_listener {
  std::function<void(const run_estimate&)> estimate;  ///< a dry run's numbers, on rank 0; not printed then
  /// Receives a failure during the work before it ends all ranks, on the rank that prints it.
  std::function<void(const failure&)> abort;
  /// The command prints its own last line, and resumes without --resume.
  bool completes_command = false;
};

struct run_settings {
  std::string out;  ///< result file; written as OUT.part until complete
  partition_kind partition = partition_kind::voxels;
  schedule_kind schedule = schedule_kind::dynamic;
  std::uint64_t batch_items = 0;  ///< 0: chosen from the device's free memory
  bool resume = false;
  bool overwrite = false;
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  double stall_minutes = 0;    ///< a run in which no batch is finished for so long ends with `interrupted`; 0: it waits
  std::string label;           ///< name of this step in its progress lines and above its table; "" for a single run
  std::string item = "voxel";  ///< what is counted, in the singular
  std::string export_words;    ///< after `voxherd export OUT --to` in the last line; "" to choose by content
  /// Called on all ranks when the result is complete, before the last line is logged. Empty: nothing more to report.
  std::function<void()> report_result;
  std::vector<std::string> also_written;  ///< files of earlier steps that the command keeps
  bool is_last = true;                    ///< no step of the command follows
  bool is_later_step = false;             ///< a step before this one has been run
  /// The file is an intermediate step (OUT.scores) that its command removes at the end. If it exists at the start, a
  /// stopped command left it, and messages say so.
  bool is_step = false;
  bool is_locked = false;          ///< the command holds OUT.lock, from its first step to its last
  std::string json;                ///< file for the timing table; "" for none; only the last step writes one
  std::string trace;               ///< file for the timeline of the batches; "" for none
  nlohmann::json also_in_summary;  ///< object; its keys go into the summary (times of earlier steps), below 32 kB
  nlohmann::json configuration;    ///< options that change the result; stored, and compared on --resume
  nlohmann::json provenance;       ///< version, command line, inputs with checksums, image header
  const run_listener* listener = nullptr;  ///< outlives the run; null for none
  /// Called on rank 0 at the end of the work: throws failure if an input has changed since it was read. Empty: nothing
  /// is checked.
  std::function<void()> check_inputs;
};

/// Device interface used by the run.
struct device_hooks {
  /// "cpu", "cuda" or "mixed" (ranks with and without a GPU). CPU and GPU results differ in rounding, so only a file of
  /// "mixed" contains both. The same on all ranks.
  std::string kind;
  device_record record;                                             ///< stored in the result's provenance
  std::size_t free_bytes = 0;                                       ///< memory for batches; 0 if the device is the host
  std::function<void()> enter_thread;                               ///< called first by each device thread
  std::function<std::shared_ptr<std::byte>(std::size_t)> allocate;  ///< host memory that copies fast to the device
  std::function<std::size_t()> peak_bytes;                          ///< peak device memory so far
};

/// Runs the analysis over all ranks into settings.out. Collective; every rank returns the same status:
/// complete, or interrupted after a signal. Throws failure, the same on every rank; with several ranks a failure during
/// the work ends all of them with its status and one message (MPI_Abort).
exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device);

/// Before any work: whether settings.out is already a complete result of this study (--resume). Compares analysis,
/// version, configuration and inputs. Throws failure, as run() would, if settings.out or its OUT.part prevents the
/// start. Collective; the same on every rank. Logs nothing; see log_nothing_to_do().
bool is_already_complete(const session& s, const std::string& analysis, const run_settings& settings,
                         const device_hooks& device);
void log_nothing_to_do(const run_settings& settings);

}  // namespace voxherd
