#pragma once

#include "mpi/comm/session.hpp"

namespace voxherd {

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

/// Waits until wake_gpu() has found the GPUs.
void await_gpus();

/// Shows all GPUs again. False if they were visible.
bool show_all_gpus();

}  // namespace voxherd
