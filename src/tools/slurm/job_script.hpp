#pragma once

#include <string>
#include <vector>

#include "src/tools/slurm/job_options.hpp"

namespace voxherd {

/// slurm/one-study.sbatch and slurm/mpirun-resume.sbatch as they were when this was built.
extern const char* const srun_script;
extern const char* const mpirun_script;

/// The job's batch script. The lines that stop, requeue and resume the job are copied from the script in slurm/ for its
/// launcher; the head and the launched command are written for this job. `comments` are printed below the head.
std::string job_script(const slurm_job& job, const std::vector<std::string>& comments);

}  // namespace voxherd
