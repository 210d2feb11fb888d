#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "mpi/result/named_output.hpp"

namespace voxherd {

enum class launcher_kind { srun, mpirun };

enum class job_device { gpu, cpu };

/// Options of `voxherd slurm`; "" or empty if not given.
struct slurm_request {
  std::vector<std::string> analysis;  ///< its name and words
  std::string script;                 ///< file; "" for standard output
  bool overwrite_script = false;
  long long nodes = 1, gpus_per_node = 4;
  std::optional<long long> ranks_per_node, cpus_per_rank;
  bool exclusive = false;
  std::string time;
  std::string memory;  ///< per node, in the form of sbatch --mem
  launcher_kind launcher = launcher_kind::srun;
  std::string mpi = "pmix";
  long long signal_before_s = 120, max_restarts = 10;
  double gpu_threads = 100;  ///< CPU threads of this machine assumed to be as fast as one GPU
  std::string slurm_partition, account;
  std::vector<std::string> modules;
  std::string job_name = "voxherd", program;
};

/// A batch job: the request with its defaults, but "" for the memory that the estimate decides.
struct slurm_job : slurm_request {
  const command* what = nullptr;
  std::vector<std::string> words = {};              ///< words of the analysis, after its name
  std::shared_ptr<prepared_command> prepared = {};  ///< the same, parsed
  std::vector<kept_file> files = {};                ///< that it reads and writes
  bool has_threads = false;                         ///< `words` include --threads
  job_device device = job_device::gpu;
  long long time_s = 0;  ///< 0: the estimate decides
  std::string folder = {};
};

/// slurm/one-study.sbatch and slurm/mpirun-resume.sbatch as they were when this was built.
extern const char* const srun_script;
extern const char* const mpirun_script;

const option_table<slurm_request>& slurm_options();

/// The command line in which every word that is not an option of `slurm` becomes a value of --analysis.
std::vector<std::string> words_of_analysis_apart(const std::vector<std::string>& words);

/// Throws failure (usage) for options that contradict each other and for errors in the analysis's own options.
slurm_job make_job(const slurm_request& request);

/// Seconds of a time in the form of sbatch: minutes, m:s, h:m:s, d-h, d-h:m, d-h:m:s. Throws failure (usage).
long long slurm_seconds(const std::string& text);

/// "1-02:30:00" or "02:30:00".
std::string slurm_time(long long seconds);

}  // namespace voxherd
