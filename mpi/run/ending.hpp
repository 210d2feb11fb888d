#pragma once

#include <string>

#include "mpi/result/result_layout.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// The last line of a command: which results it wrote, and a command that makes use of them, by their contents.
std::string ending_text(const run_settings& settings, const result_layout& layout);

/// Logs it, unless the run is a step or part of a command that goes on. For rank 0.
void log_ending(const run_settings& settings, const result_layout& layout);

}  // namespace voxherd
