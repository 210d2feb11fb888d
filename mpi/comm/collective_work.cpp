#include "mpi/comm/collective_work.hpp"

#include <unistd.h>

#include <climits>
#include <optional>

#include "core/clock.hpp"
#include "core/error_output.hpp"
#include "mpi/comm/communicators.hpp"

namespace voxherd {

namespace {

constexpr double wait_seconds = 5;

/// The lowest rank that failed, INT_MAX for none. A failed rank waits a few seconds for the others, then has nothing.
std::optional<int> first_failed_rank(const session& s, bool failed) {
  const int own = failed ? s.rank() : INT_MAX;
  int first = INT_MAX, all_are_here = 0;
  MPI_Request request;
  // Not on the session's communicator, on which the others may be in a different collective call.
  MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
  const double start = steady_seconds();
  while (true) {
    MPI_Test(&request, &all_are_here, MPI_STATUS_IGNORE);
    if (all_are_here != 0) return first;
    if (failed && steady_seconds() - start > wait_seconds) return std::nullopt;
    usleep(100);
  }
}

}  // namespace

void agree_or_end(const session& s, const std::function<void()>& work) {
  std::optional<failure> own;
  try {
    work();
  } catch (...) {
    own = current_failure();
  }
  if (own && s.size() == 1) throw failure(*own);
  const std::optional<int> first = first_failed_rank(s, own.has_value());
  if (first == INT_MAX) return;
  if (own && (!first || *first == s.rank())) {
    print_error_output("voxherd: error: {} (on rank {} of {}, host {})\n", own->what(), s.rank(), s.size(), s.host());
    s.end_all_ranks(own->status);
  }
  while (true) pause();  // the rank that reports ends this one
}

}  // namespace voxherd
