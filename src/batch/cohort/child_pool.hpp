#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "src/batch/cohort/compute_place.hpp"
#include "src/batch/cohort/cost.hpp"

namespace voxherd {

/// What a job finds before it is started.
struct job_state {
  enum class kind { to_compute, complete, computed_elsewhere } what = kind::to_compute;
  cost so_far;
};

/// A subject to be computed by a child process.
struct pool_job {
  std::string name;                                    ///< for messages
  std::string out;                                     ///< OUT.log and OUT.cost.json belong to it
  std::function<job_state()> inspect;                  ///< called while no other pool can start it
  std::function<std::vector<std::string>(int)> words;  ///< words that start this program with so many threads
  std::function<double()> fraction_done;               ///< fraction done of a job that runs, 0 to 1
};

struct pool_settings {
  std::vector<compute_place> places;
  std::vector<std::string> gpus;  ///< entries of CUDA_VISIBLE_DEVICES that the places name by index
  std::string host;               ///< for messages; "" on one node
  bool stops_at_failure = false;  ///< starts nothing after the first failure
};

/// Runs the jobs, each in a child process, as many at a time as there are places; a failed one does not stop the
/// others. Of several pools each job is started by one only, which holds a lock of its OUT.log. On a stop signal the
/// children receive it and save. Returns complete; interrupted if a job was stopped; else the status of the first
/// failure.
exit_status run_pool(const std::vector<pool_job>& jobs, const pool_settings& settings);

}  // namespace voxherd
