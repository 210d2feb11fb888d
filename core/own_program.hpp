#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace voxherd {

// How this process was started. Works without /proc, too, as in some containers.

/// To be called by main() before anything changes the environment or the current folder.
void note_program_start(int argc, char** argv);

/// This program's file, links followed; empty if it cannot be found.
std::filesystem::path own_program();

/// A name of this program's file that starts the same program even if the file was replaced since.
std::string own_program_to_start();

/// The words that this process was started with, without its name.
const std::vector<std::string>& initial_words();

/// The environment that this process was started with, as NAME=VALUE: without what MPI and this program have set since.
const std::vector<std::string>& initial_environment();

}  // namespace voxherd
