#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/command.hpp"

namespace voxherd {

/// The whole program: MPI, the log, the command named by the first word, and one message and one exit status for all
/// ranks. `build`: what --version prints in brackets, and results store; "" for nothing.
int run_program(int argc, char** argv, std::span<const command* const> commands, std::string_view build = "");

using processor_check = bool (*)(std::string_view level);

/// Why kernels that need a level cannot run on this processor, and what to do; empty if they can. `name`: the
/// value of VOXHERD_CPU_ARCH that they were compiled with.
std::string why_level_cannot_run(std::string_view name, std::string_view required, processor_check supports);

/// The same for this program's kernels, and for the level that the environment variable VOXHERD_CPU_LEVEL requests.
std::string why_kernels_cannot_run();

}  // namespace voxherd
