#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/run/run.hpp"
#include "src/tools/slurm/job_options.hpp"

namespace voxherd {

/// Estimate of the job, from a dry run of the analysis on this machine's CPU.
struct job_estimate {
  double seconds = 0;         ///< of computation on the job's nodes
  double bytes_per_node = 0;  ///< host memory, at most
  double disk_bytes = 0;
  run_estimate found;  ///< on this machine
};

/// Empty, with the reason in `why_none`, if an input cannot be read here or the result is already complete. Throws
/// failure if the job would fail for other reasons. Collective.
std::optional<job_estimate> estimate_job(session& s, const slurm_job& job, std::string& why_none);

/// Sets the limits that were not given, time and memory, with a margin. Throws failure (usage), with `why_none`, if the
/// time is missing and there is no estimate.
void settle_limits(slurm_job& job, const std::optional<job_estimate>& estimate, const std::string& why_none);

/// The estimate as printed lines, without "# ".
std::vector<std::string> estimate_lines(const slurm_job& job, const std::optional<job_estimate>& estimate,
                                        const std::string& why_none);

}  // namespace voxherd
