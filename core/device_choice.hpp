#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace voxherd {

/// The value of an environment variable; none if it is not set.
using variable_reader = std::function<std::optional<std::string>(const char* name)>;

/// The number of this process among the ranks of its node, before MPI starts: as the launcher says, 0 without a
/// launcher. None if a launcher does not say it.
std::optional<int> launched_node_rank(const variable_reader& variable);

/// The GPUs of a process before CUDA starts.
struct offered_gpus {
  std::optional<std::string> listed;  ///< CUDA_VISIBLE_DEVICES
  int accessible = 0;                 ///< GPUs that this process may open; 0: unknown
  bool renumbered = false;            ///< whether MPS or MIG renumbered the GPUs: CUDA's numbers are not theirs
};

/// What CUDA_VISIBLE_DEVICES must be for rank `node_rank` to see only its own GPU, which is the one that it would take
/// if it saw all: number node_rank modulo their count. None if there is one GPU, or if this is not certain.
std::optional<std::string> only_own_gpu(const offered_gpus& offered, int node_rank);

/// The device of a rank as stored in results.
struct device_record {
  std::string kind = "cpu";  ///< "cpu" or "cuda"
  int threads = 0;           ///< CPU threads; 0 for a GPU
  std::string name, uuid;    ///< name and UUID of a GPU
};

/// "8 CPU threads" or "NVIDIA H200, GPU-1f2e...".
std::string describe(const device_record& d);

nlohmann::json as_json(const device_record& d);
device_record device_from_json(const nlohmann::json& j);

}  // namespace voxherd
