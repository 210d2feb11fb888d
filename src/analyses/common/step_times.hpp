#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace voxherd {

/// Name and seconds of each step, from the summary of a result that was computed in several (mpi/run/steps.hpp), with
/// "result" for the last one; empty for a result of one step. Without times measured on devices.
std::vector<std::pair<std::string, double>> step_times(const nlohmann::json& summary);

}  // namespace voxherd
