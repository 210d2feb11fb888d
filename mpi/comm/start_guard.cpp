#include "mpi/comm/start_guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/error_output.hpp"
#include "core/failure.hpp"

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
  if (seconds > 0) thread_ = std::thread([this, seconds, rank] { wait(seconds, rank); });
}

start_guard::~start_guard() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void start_guard::wait(double seconds, int rank) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> longest(seconds + delay_seconds(rank));
  if (changed_.wait_for(lock, longest, [this] { return started_; })) return;
  print_error_output(
      "voxherd: error: MPI has not started after {:g} s (rank {}): another rank has died or does not run, or a node "
      "does not "
      "answer; start again, with --resume if OUT.part exists (VOXHERD_START_SECONDS is the limit; 0: none)\n",
      seconds, rank);
  _exit(static_cast<int>(exit_status::interrupted));
}

}  // namespace voxherd
