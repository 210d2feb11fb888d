#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/batch/cohort/child_pool.hpp"
#include "src/batch/cohort/manifest.hpp"
#include "src/batch/cohort/subject_status.hpp"

namespace voxherd {

/// `cohort --run-all`.
struct cohort_run {
  std::string manifest, words_template;  ///< names as on the command line
  std::vector<std::string> more;         ///< options added to each subject's command
  std::size_t per_gpu = 2;               ///< subjects at a time on each GPU
  std::size_t per_node = 0;              ///< subjects at a time on a node without GPUs; 0: see make_cpu_places()
};

/// The places of this process: `per_gpu` on each GPU that it was given, if the subjects may use GPUs and there are any;
/// else `per_node` on the cores. Collective over the ranks of a node.
pool_settings make_pool_settings(const session& s, bool may_use_gpus, std::size_t per_gpu, std::size_t per_node);

/// False for subjects with --backend cpu, and for wrong command lines.
bool may_use_gpu(const cohort_subject& subject, const std::vector<std::string>& more);

/// Computes all subjects that would progress, several at a time, each in a child process `cohort --run N` of one rank.
/// One process per node; the processes of several nodes share the subjects. `statuses`: one per subject. Collective.
/// Returns the largest status of all processes, see run_pool(). Throws failure (usage) for several processes on a node.
exit_status run_all(session& s, const cohort_run& wanted, const std::vector<cohort_subject>& subjects,
                    const std::vector<subject_status>& statuses);

}  // namespace voxherd
