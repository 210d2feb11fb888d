#pragma once

#include <string>

#include "core/device.hpp"
#include "mpi/run/run.hpp"
#include "src/analyses/common/run_options.hpp"

namespace voxherd {

// Before CUDA starts, in this order.

/// Makes only this rank's GPU visible to CUDA (CUDA_VISIBLE_DEVICES), where it is known: CUDA initialises every GPU
/// that it sees, which takes 0.2 s or more for each and rank. To be called before MPI starts, which may start CUDA, and
/// whose threads may read the environment. Makes no CUDA call.
void show_only_own_gpu();

/// Shows all GPUs again unless all ranks of the node saw the same GPUs and their launcher numbered them as MPI does. To
/// be called before CUDA starts. Collective.
void confirm_own_gpu(const session& s);

/// Starts CUDA in another thread, and opens this rank's GPU there if it is known: this takes 0.2 s or more, while
/// inputs are read. Errors are reported to the first user of a GPU.
void wake_gpu();

/// Waits until these threads have ended. Before the program ends: CUDA destroys what they use.
void await_woken_gpu();

/// Shows all GPUs again. False if they were visible.
bool show_all_gpus();

/// Lets teams of OpenMP have at most this rank's share of the cores, or the threads wanted, and fewer with a warning
/// where the system refuses so many. To be called by the main thread before it computes. Collective within the node.
void limit_teams(const session& s, int wanted_threads);

/// This rank's device. One GPU per rank by node-local rank, UUIDs compared within the node; two ranks on one GPU is a
/// usage failure unless share_gpu. In CPU mode no CUDA call is made. With --backend mixed the first ranks of a node
/// use the GPUs that they see, one each, and the others share the remaining cores. Collective.
device choose_device(const session& s, const run_request& request);
/// For commands whose steps recompute results exactly: --backend mixed is a usage failure.
void refuse_mixed(const run_request& request);
device choose_device_of_one_kind(const session& s, const run_request& request);

device_hooks hooks_for(const device& d);

/// What the system says about GPUs without CUDA, which would initialise all of them. `root`: of the file system. A
/// test's program replaces the functions, in main: they describe the machine, and are asked before a session exists.
struct gpu_file_functions {
  int (*accessible)(const std::string& root);       ///< NVIDIA GPUs that this process may open; 0: unknown
  bool (*are_renumbered)(const std::string& root);  ///< CUDA's numbers are not those of the device files
};
extern gpu_file_functions gpu_files;

}  // namespace voxherd
