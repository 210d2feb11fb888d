#pragma once

#include <thread>

#include "core/unexpected_exit.hpp"
#include "mpi/comm/launcher.hpp"

namespace voxherd {

/// Notes that this rank starts MPI, with a file in the launcher's own folder. Throws failure (usage) if another
/// process of the same rank has done so: a rank can start MPI only once.
void claim_mpi_start(const variable_reader& variable);

/// Why MPI will probably not start, and what to do; "" if it should. So far: srun without PMI.
std::string doubt_about_mpi(const variable_reader& variable);

/// What MPI_Init prints is kept while this object lives. Does nothing if `mutes` is false.
class kept_errors {
 public:
  explicit kept_errors(bool mutes);
  ~kept_errors();  ///< prints it
  kept_errors(const kept_errors&) = delete;
  kept_errors& operator=(const kept_errors&) = delete;
  int error_output() const;  ///< the true standard error

 private:
  int output_ = -1, kept_ = -1;
};

/// Lives while MPI starts. If MPI's library ends the process, or if that takes too long, the process ends with a
/// message and a status of this program. Open MPI waits for ever if a rank or a node has died meanwhile: the limit is
/// 300 s, or what the environment variable VOXHERD_START_SECONDS says (0: none).
class start_guard {
 public:
  start_guard();

 private:
  kept_errors kept_;
  unexpected_exit exits_;
  std::jthread timer_;  ///< its destructor ends it
};

}  // namespace voxherd
