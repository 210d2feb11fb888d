#pragma once

#include <string>
#include <vector>

#include "src/tools/slurm/job_options.hpp"

namespace voxherd {

/// slurm/one-study.sbatch and slurm/mpirun-resume.sbatch as they were when this was built.
extern const char* const srun_script;
extern const char* const mpirun_script;

/// The job's batch script. All that makes a job stop, requeue and resume is the text of the script in slurm/ for its
/// launcher; its head, and the command that is launched, are the job's. `comments` stand below the head.
std::string job_script(const slurm_job& job, const std::vector<std::string>& comments);

}  // namespace voxherd
