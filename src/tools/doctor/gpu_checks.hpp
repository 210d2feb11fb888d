#pragma once

#include <string>

#include "src/tools/doctor/finding.hpp"

namespace voxherd {

/// Driver and GPUs of this node. Asks CUDA first, then nvidia-smi, which knows what CUDA does not tell: ECC errors,
/// persistence, other processes.
findings check_gpus();

/// What nvidia-smi printed for the query that check_gpus() makes: one line per GPU.
findings judge_gpus(const std::string& table);

}  // namespace voxherd
