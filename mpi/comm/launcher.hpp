#pragma once

#include "core/device_choice.hpp"

namespace voxherd {

/// What a launcher (mpirun, srun, ...) says in the environment of each process that it starts. Known before MPI starts.

/// Whether a launcher started this process as one of several ranks of MPI. A job's shell may be a step of one task, and
/// a script may be the only rank of a job: its commands need no MPI, which a rank can start only once.
bool is_one_of_ranks(const variable_reader& variable);

/// Whether a launcher of MPI numbers this process above 0. A task that only srun numbers is none of these.
bool is_later_rank(const variable_reader& variable);

/// This process's rank; 0 if the launcher does not say.
int launched_rank(const variable_reader& variable);

/// How many processes the launcher started; 0 if there is none, or if it does not say.
long launched_processes(const variable_reader& variable);

/// What to do where the launcher started more processes than MPI connects, as srun does without PMI, or the mpirun of
/// another MPI.
std::string unconnected_text(long started);

/// Open MPI 4.1 keeps the shared pointer of each file in a file of its session folder, and ends with SIGBUS where that
/// cannot grow; it needs /dev/shm for a semaphore. Throws failure (disk) instead; to be called before a file is opened
/// with MPI-IO.
void check_mpi_folders();

/// The environment of this process.
std::optional<std::string> environment_variable(const char* name);

}  // namespace voxherd
