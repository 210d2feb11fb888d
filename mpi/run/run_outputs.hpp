#pragma once

#include <string>
#include <vector>

#include "mpi/result/named_output.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

named_output json_output(const run_settings& settings);
named_output trace_output(const run_settings& settings);

/// Throws failure if --json or --trace of a run that is about to start cannot be written, or would replace an input of
/// `provenance`, the result or its temporary files, or each other. Changes no file.
void check_run_outputs(const run_settings& settings, const nlohmann::json& provenance);

/// Throws failure (usage) if `path` is a result, named by `result_option`, or a file that a run keeps next to it.
void check_not_a_result(const std::string& option, const std::string& path, const std::string& result_option,
                        const std::string& result);

}  // namespace voxherd
