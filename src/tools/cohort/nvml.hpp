#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace voxherd {

/// What the counters of a GPU say now; none where the driver does not offer a counter.
struct gpu_reading {
  std::optional<double> energy_j;  ///< since the driver was loaded
  std::optional<double> busy;      ///< fraction of about the last second in which a kernel ran, 0 to 1
};

/// Reads GPU `i` of the list.
using gpu_reader = std::function<gpu_reading(std::size_t i)>;

/// Reads the GPUs by NVML, the driver's library libnvidia-ml.so.1, which is opened at run time. Without it, or for GPUs
/// that it does not know, all readings are empty. `gpus`: entries of CUDA_VISIBLE_DEVICES.
gpu_reader open_nvml(const std::vector<std::string>& gpus);

}  // namespace voxherd
