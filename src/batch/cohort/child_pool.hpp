#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "src/batch/cohort/cost.hpp"

namespace voxherd {

/// Where one subject computes at a time: on a GPU, which several places may share, or on CPU cores.
struct compute_place {
  std::optional<std::size_t> gpu;  ///< index among the GPUs of this process; none: on CPU cores
  int threads = 1;                 ///< its share of the cores
};

/// The GPUs of this process as entries of CUDA_VISIBLE_DEVICES. `listed`: its value; without it, GPUs 0 to count - 1.
/// A list ends before the first entry that names no GPU, as in CUDA.
std::vector<std::string> name_gpus(const std::optional<std::string>& listed, int count);

/// `per_gpu` places on each GPU, which share the cores equally.
std::vector<compute_place> make_gpu_places(std::size_t gpus, std::size_t per_gpu, int cores);

/// Places on CPU cores. `count` 0: one for each 8 cores, so that one place reads or writes while others compute and
/// memory lasts.
std::vector<compute_place> make_cpu_places(std::size_t count, int cores);

/// For each place, how much of the first subject on its GPU must be done before it is used for the first time: for
/// places 0, 1, 2 of 3 on a GPU nothing, a third, two thirds. Equal subjects that start together also end together, and
/// the GPU would wait for all of them at each end; so they stay apart.
std::vector<double> opening_fractions(const std::vector<compute_place>& places);

/// The next place to use: a free one on the GPU with the fewest subjects. None if all are taken.
std::optional<std::size_t> choose_place(const std::vector<compute_place>& places, const std::vector<bool>& taken);

/// What the counters of a GPU say now; none where the driver does not offer a counter.
struct gpu_reading {
  std::optional<double> energy_j;  ///< since the driver was loaded
  std::optional<double> busy;      ///< fraction of about the last second in which a kernel ran, 0 to 1
};

/// Reads GPU `i` of the list.
using gpu_reader = std::function<gpu_reading(std::size_t i)>;

/// Reads the GPUs by NVML, the driver's library libnvidia-ml.so.1, which is opened at run time. Without it, or for GPUs
/// that it does not know, all readings are empty. `gpus`: entries of CUDA_VISIBLE_DEVICES.
gpu_reader open_nvml(const std::vector<std::string>& gpus);

/// Divides the time and energy of GPUs among the subjects that share them: between two calls of measure(), each subject
/// on a GPU has an equal part.
class cost_meter {
 public:
  cost_meter(std::size_t gpus, gpu_reader read, double now_s);

  /// `so_far`: what the subject cost in earlier runs.
  void begin(std::size_t subject, const compute_place& where, const cost& so_far);
  /// Adds what has passed since the last call.
  void measure(double now_s);
  /// The cost of a running subject, up to the last measure().
  const cost& so_far(std::size_t subject) const { return running_.at(subject).spent; }
  void end(std::size_t subject) { running_.erase(subject); }

  /// Since the start: of all GPUs, used or not, and of the cores that subjects used.
  const cost& total() const { return total_; }

 private:
  struct user {
    compute_place where;
    cost spent;
  };
  void divide(std::size_t gpu, const cost& passed);

  gpu_reader read_;
  std::vector<gpu_reading> last_;  ///< last reading of each GPU
  double last_s_;
  std::map<std::size_t, user> running_;
  cost total_;
};

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
  std::function<bool()> is_computed;                   ///< whether a child that ended with status 0 has done its work
};

struct pool_settings {
  std::vector<compute_place> places;
  std::vector<std::string> gpus;  ///< entries of CUDA_VISIBLE_DEVICES that the places name by index
  std::string host;               ///< for messages; "" on one node
  bool stops_at_failure = false;  ///< starts nothing after the first failure
};

/// Runs the jobs, each in a child process, as many at a time as there are places; a failed one does not stop the
/// others. Of several pools each job is started by one only, which holds a lock of its OUT.log. On a stop signal the
/// children receive it and save. Returns complete; interrupted if a job was stopped or killed; else the status of the
/// first failure.
exit_status run_pool(const std::vector<pool_job>& jobs, const pool_settings& settings);

}  // namespace voxherd
