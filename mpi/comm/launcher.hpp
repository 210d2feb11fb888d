#pragma once

#include "core/device_choice.hpp"

namespace voxherd {

/// What a launcher (mpirun, srun, ...) says in the environment of each process that it starts. Known before MPI starts.

/// Whether a launcher started this process as a rank of MPI. A job's shell may be a step of one task: it is none.
bool started_by_launcher(const variable_reader& variable);

/// This process's rank; 0 if the launcher does not say.
int launched_rank(const variable_reader& variable);

/// How many processes the launcher started; 0 if there is none, or if it does not say.
long launched_processes(const variable_reader& variable);

/// Open MPI 4.1 keeps the shared pointer of each file in a file of its session folder, and ends with SIGBUS where that
/// cannot grow. Throws failure (disk) instead; to be called before a file is opened with MPI-IO.
void check_session_folder();

/// The environment of this process.
std::optional<std::string> environment_variable(const char* name);

}  // namespace voxherd
