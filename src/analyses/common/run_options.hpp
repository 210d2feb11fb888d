#pragma once

#include <cstdint>
#include <string>

#include "core/device.hpp"
#include "core/options.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

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
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  double stall_minutes = 0;                ///< 0: wait for every batch, however long it takes
  std::string json, trace;                 ///< files; "" for none
  double host_memory_gb = 2.5;             ///< per node, for compressed images
  std::string command_line = "";           ///< for provenance
  const run_listener* listener = nullptr;  ///< of a command that runs this one; null for none

  std::uint64_t host_memory_bytes() const { return static_cast<std::uint64_t>(host_memory_gb * 1e9); }
};

const option_table<run_request>& run_options();

/// The settings of the run; `configuration` and `provenance` have their common entries (version, command line, hosts),
/// and callers may add more. Throws failure (usage) if --out is missing. Collective.
run_settings make_run_settings(const session& s, const run_request& request);

struct chosen_device : device {
  bool among_others = false;  ///< --backend mixed: other ranks may use another kind of device
};

/// This rank's device. One GPU per rank by node-local rank, UUIDs compared within the node; two ranks on one GPU is a
/// usage failure unless share_gpu. In CPU mode no CUDA call is made. With --backend mixed the first ranks of a node
/// use the GPUs that they see, one each, and the others share the remaining cores. Collective.
chosen_device choose_device(const session& s, const run_request& request);
/// For commands whose steps recompute results exactly: --backend mixed is a usage failure.
void refuse_mixed(const run_request& request);
device choose_device_of_one_kind(const session& s, const run_request& request);

device_hooks hooks_for(const chosen_device& d);
inline device_hooks hooks_for(const device& d) { return hooks_for(chosen_device{d}); }

}  // namespace voxherd
