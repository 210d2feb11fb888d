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

/// What a dry run finds: sizes in bytes, times in seconds.
struct run_estimate {
  std::string analysis;
  device_record device;  ///< of rank 0, on which it was measured
  std::uint64_t items = 0, batches = 0, largest_batch = 0, pending_batches = 0;
  int ranks = 1;
  double batch_bytes = 0;      ///< host memory of a rank for its batches
  double gpu_batch_bytes = 0;  ///< at most, were its device a GPU of any size
  double process_bytes = 0;    ///< what rank 0 has had in all, without what it shares with its node's other ranks
  double node_bytes = 0;       ///< memory that the ranks of a node share
  double device_bytes = 0, free_device_bytes = 0;  ///< 0 where the device is the host
  double disk_bytes = 0;
  std::uint64_t probed_items = 0;  ///< computed on rank 0's device, in probe_seconds; 0: none
  double probe_seconds = 0;
  double seconds = 0;  ///< of the run on these ranks and devices
};

/// What a command that runs another command wants to hear of the run.
struct run_listener {
  std::function<void(const run_estimate&)> estimate;  ///< a dry run's numbers on rank 0, which are then not printed
  /// A failure in the middle of the work, before it ends all ranks; on the rank that prints it.
  std::function<void(const failure&)> abort;
};

struct run_settings {
  std::string out;  ///< result file; written as OUT.part until whole
  partition_kind partition = partition_kind::voxels;
  schedule_kind schedule = schedule_kind::dynamic;
  std::uint64_t batch_items = 0;  ///< 0: chosen from the device's free memory
  bool resume = false;
  bool overwrite = false;
  bool dry_run = false;
  bool quiet = false;
  std::string label;  ///< what this run is called in its progress lines and above its table; "" for a run of its own
  /// The file is a step of a longer command (OUT.scores), which removes it at the end: what is left of it is what a
  /// stopped command left, and messages say so.
  bool is_step = false;
  std::string json;                ///< file for the timing table; "" for none, as for a step before the last one
  std::string trace;               ///< file for when what happened to each batch; "" for none
  nlohmann::json also_in_summary;  ///< object; its keys go into the summary (times of earlier steps), below 32 kB
  nlohmann::json configuration;    ///< options that change the result; stored, and compared on --resume
  nlohmann::json provenance;       ///< version, command line, inputs with checksums, image header
  const run_listener* listener = nullptr;  ///< outlives the run; null for none
};

/// What the run needs of a rank's device, without knowing devices.
struct device_hooks {
  /// "cpu" or "cuda": their results differ in rounding, so no file holds both, but for one of "mixed", where some ranks
  /// have a GPU and others none. The same on all ranks.
  std::string kind;
  device_record record;                ///< stored in the result's provenance
  std::size_t free_bytes = 0;          ///< memory for batches; 0 when the device is the host
  std::function<void()> enter_thread;  ///< called first by each driving thread
  std::function<std::shared_ptr<std::byte>(std::size_t)> allocate;  ///< host memory that copies fast to the device
  std::function<std::size_t()> peak_bytes;                          ///< most device memory used so far
};

/// Runs the analysis over all ranks into settings.out. Collective; every rank returns the same status:
/// whole, or resume_me after a signal. Throws failure, the same on every rank; a failure in the middle of the work
/// of several ranks ends them all with its status and one message (MPI_Abort).
exit_status run(const session& s, analysis& a, const run_settings& settings, const device_hooks& device);

/// Before any work: whether settings.out is a complete result of this study already (--resume). Compares what is known
/// by then: analysis, version, configuration, inputs. Throws failure as run() would if settings.out or what is left of
/// it allows no start. Collective; the same on every rank. Says nothing; log_nothing_to_do() does.
bool is_whole_already(const session& s, const std::string& analysis, const run_settings& settings,
                      const device_hooks& device);
void log_nothing_to_do(const run_settings& settings);

}  // namespace voxherd
