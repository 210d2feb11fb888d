#pragma once

#include <string>

namespace voxherd {

/// NVIDIA GPUs that this process may open, counted without CUDA, which would initialise all of them: the device files
/// that permissions and control groups allow, if the driver knows as many GPUs. 0: unknown. `root`: of the file system.
int accessible_gpus(const std::string& root = "");

/// Whether CUDA's numbers of GPUs are not those of the device files: the multi-process service (MPS) runs, or a GPU is
/// partitioned (MIG).
bool gpus_are_renumbered(const std::string& root = "");

}  // namespace voxherd
