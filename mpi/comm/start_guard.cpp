#include "mpi/comm/start_guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/error_output.hpp"
#include "core/failure.hpp"
#include "mpi/comm/stop_wait.hpp"

namespace voxherd {

namespace {

double limit_seconds() {
  const char* const given = std::getenv("VOXHERD_START_SECONDS");
  return given == nullptr ? 300 : std::strtod(given, nullptr);
}

/// MPI, which knows the rank, has not started. 0 if the launcher does not say.
int expected_rank() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

/// One after the other, so that the launcher ends the other ranks before they print the same message.
double delay_seconds(int rank) { return std::min(5.0 * rank, 60.0); }

}  // namespace

start_guard::start_guard() {
  // The thread must not read the environment, which MPI_Init changes meanwhile.
  const double seconds = limit_seconds();
  const int rank = expected_rank();
  if (seconds > 0)
    thread_ = std::jthread([seconds, rank](const std::stop_token& started) { wait(started, seconds, rank); });
}

void start_guard::wait(const std::stop_token& started, double seconds, int rank) {
  if (stopped_within(started, seconds + delay_seconds(rank))) return;
  print_error_output(
      "voxherd: error: MPI has not started after {:g} s (rank {}): another rank has died or does not run, or a node "
      "does not "
      "answer; start again, with --resume if OUT.part exists (VOXHERD_START_SECONDS is the limit; 0: none)\n",
      seconds, rank);
  _exit(static_cast<int>(exit_status::interrupted));
}

}  // namespace voxherd
