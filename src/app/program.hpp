#pragma once

#include <span>
#include <string_view>

#include "core/command.hpp"

namespace voxherd {

/// The whole program: MPI, the log, the command named by the first word, and one message and one exit status for all
/// ranks. `commit`: what --version prints in brackets; "" for nothing.
int run_program(int argc, char** argv, std::span<const command* const> commands, std::string_view commit = "");

}  // namespace voxherd
