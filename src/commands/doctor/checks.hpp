#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

enum class verdict {
  fine,
  advice,   ///< works, but slower or less safely than it could
  problem,  ///< runs will fail, or their results may be wrong
};

/// What one check found: one line.
struct finding {
  verdict how = verdict::fine;
  std::string subject;  ///< "GPU 0"
  std::string text;     ///< what was found; for advice and problems also what to do
};
using findings = std::vector<finding>;

/// "fine     GPU 0     node7: ..."; `host`: "" for none.
std::string finding_line(const finding& f, const std::string& host = "");

/// Memory, shared memory and limits of this process (ulimit).
findings check_memory();

/// Driver and GPUs of this node. Asks CUDA first, then nvidia-smi, which knows what CUDA does not tell: ECC errors,
/// persistence, other processes.
findings check_gpus();

/// What nvidia-smi printed for the query that check_gpus() makes: one line per GPU.
findings judge_gpus(const std::string& table);

/// Whether kernels built for a list of GPUs, the entries of CMAKE_CUDA_ARCHITECTURES ("80-real,90"), run on a GPU of
/// this compute capability (90 for 9.0). Entries without a number (native, all-major) are not judged: true.
bool kernels_run_on(int compute_capability, const std::string& architectures);

/// How the ranks were started, and which cores they may use. Collective; the findings are those of rank 0.
findings check_ranks(const session& s);

/// SLURM's part in it. Rank 0's environment is enough.
findings check_slurm(const session& s);

/// Whether all ranks can write one result into this folder: space, locks, and a small result that is written by all of
/// them, read again and removed. Collective; the findings are those of rank 0.
findings check_folder(const session& s, const std::string& folder);

}  // namespace voxherd
