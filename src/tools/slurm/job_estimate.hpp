#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/run/run.hpp"
#include "src/tools/slurm/job_options.hpp"

namespace voxherd {

/// What the analysis's own dry run on this machine's CPU says of the job.
struct job_estimate {
  double seconds = 0;         ///< of the computing on the job's nodes
  double bytes_per_node = 0;  ///< host memory, at most
  double disk_bytes = 0;
  run_estimate found;  ///< on this machine
};

/// Nothing, and the reason in `why_none`, where an input is not to be read here or the result is whole already. Throws
/// failure where the job would fail for other reasons. Collective.
std::optional<job_estimate> estimate_job(session& s, const slurm_job& job, std::string& why_none);

/// Puts in what was not said: time and memory, with room to spare. Throws failure (usage) where there is no estimate to
/// take the time from.
void settle_limits(slurm_job& job, const std::optional<job_estimate>& estimate);

/// Lines for people: what was found, what follows, without "# ".
std::vector<std::string> estimate_lines(const slurm_job& job, const std::optional<job_estimate>& estimate,
                                        const std::string& why_none);

}  // namespace voxherd
