#pragma once

#include <string>
#include <vector>

#include "core/command.hpp"

namespace voxherd {

enum class launcher_kind { srun, mpirun };
enum class job_device { gpu, cpu };

/// A batch job as it was asked for; "" and 0 where nothing was said and the estimate decides.
struct slurm_job {
  const command* what = nullptr;
  std::vector<std::string> words;  ///< of the analysis, after its name
  arguments analysis;              ///< the same, read

  std::string slurm_partition, account, job_name, mpi, program, folder;
  std::vector<std::string> modules;
  launcher_kind launcher = launcher_kind::srun;
  job_device device = job_device::gpu;
  long long nodes = 1, ranks_per_node = 0, gpus_per_node = 0, cpus_per_rank = 0;
  long long time_s = 0, signal_before_s = 120, most_restarts = 10;
  std::string memory;  ///< of a node, as sbatch --mem takes it
  bool exclusive = false;
  double gpu_threads = 0;  ///< CPU threads of this machine that a GPU is taken to be as fast as
};

void add_job_options(po::options_description& options);

/// The command line with every word that is no option of `slurm` itself made a value of --analysis.
std::vector<std::string> words_of_analysis_apart(const std::vector<std::string>& words);

/// Throws failure (usage) for what does not go together, and what the analysis's own command line has wrong.
slurm_job read_job(const arguments& args);

/// Seconds of a time as sbatch writes it: minutes, m:s, h:m:s, d-h, d-h:m, d-h:m:s. Throws failure (usage).
long long slurm_seconds(const std::string& text);

/// "1-02:30:00" or "02:30:00".
std::string slurm_time(long long seconds);

}  // namespace voxherd
