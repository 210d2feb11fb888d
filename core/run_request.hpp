#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/control_groups.hpp"
#include "core/device_choice.hpp"
#include "core/failure.hpp"
#include "core/plan.hpp"

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
  device_record device;  ///< device of rank 0, where the time was measured
  std::uint64_t items = 0, batches = 0, largest_batch = 0, pending_batches = 0;
  int ranks = 1;
  double batch_bytes = 0;      ///< host memory of a rank for its batches
  double gpu_batch_bytes = 0;  ///< the same for a GPU with unlimited memory
  double process_bytes = 0;    ///< peak of rank 0, without the memory shared by the ranks of its node
  double kept_bytes = 0;       ///< what each rank keeps of all batches until the last step
  double root_bytes = 0;       ///< what the last step needs besides, on rank 0
  double node_bytes = 0;       ///< memory shared by the ranks of a node
  double device_bytes = 0, free_device_bytes = 0;  ///< 0 if the device is the host
  double disk_bytes = 0;
  std::string result;       ///< the last step's file, if this run writes another one, which is removed at the end
  double result_bytes = 0;  ///< its size before it is compressed
  std::uint64_t probed_items = 0;  ///< computed on rank 0's device, in probe_seconds; 0: none
  double probed_part = 1;          ///< computed part of each of them
  double probe_seconds = 0;        ///< the fastest of several tries
  double mean_seconds = 0;   ///< mean time of the tries: longer than the fastest where other programs use the machine
  double load_per_core = 0;  ///< programs that ran on rank 0's host in the minute before, per core
  double run_seconds = 0;    ///< time of the run on these ranks and devices
  double seconds = 0;        ///< the same with the later steps
  std::vector<later_step> later;
  std::vector<std::string> not_estimated;  ///< names of later steps
};

/// Callbacks for a command that runs another command.
struct run_listener {
  std::function<void(const run_estimate&)> estimate;  ///< a dry run's numbers, on rank 0; not printed then
  /// Receives a failure during the work before it ends all ranks, on the rank that prints it.
  std::function<void(const failure&)> abort;
  bool completes_command = false;  ///< the command prints its own last line
  bool resumes_by_itself = false;  ///< the same command continues a stopped run, also without --resume
};

enum class backend_choice { automatic, cpu, cuda, mixed };

/// Options that all analyses have.
struct run_request {
  std::string out;  ///< result file
  bool resume = false;
  bool overwrite = false;
  partition_kind partition = partition_kind::voxels;
  schedule_kind schedule = schedule_kind::dynamic;
  std::uint64_t batch_items = 0;  ///< 0: chosen from the device's memory
  backend_choice backend = backend_choice::automatic;
  int threads = 0;  ///< per rank; 0: the cores that it may use
  bool share_gpu = false;
  std::optional<int> gpu = {};  ///< number among those that this process sees; none: by the rank
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  double stall_minutes = 0;  ///< 0: wait for every batch, however long it takes
  std::string json, trace;   ///< files; "" for none
  static constexpr double standard_host_memory_gb = 2.5;
  double host_memory_gb = standard_host_memory_gb;  ///< per node, for compressed images
  std::string command_line = "";                    ///< for provenance
  const run_listener* listener = nullptr;           ///< listener of a command that runs this one; null for none

  /// The default is less where a control group allows little memory.
  std::uint64_t host_memory_bytes() const {
    const auto bytes = static_cast<std::uint64_t>(host_memory_gb * 1e9);
    return host_memory_gb == standard_host_memory_gb ? memory_within_group(bytes) : bytes;
  }
};

}  // namespace voxherd
