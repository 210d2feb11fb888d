#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "src/tools/cohort/compute_place.hpp"
#include "src/tools/cohort/cost.hpp"
#include "src/tools/cohort/nvml.hpp"

namespace voxherd {

/// Divides the time and energy of GPUs among the subjects that share them: between two calls of measure(), each subject
/// on a GPU has an equal part.
class cost_meter {
 public:
  cost_meter(std::size_t gpus, gpu_reader read, double now_s);

  /// `so_far`: what the subject cost in earlier runs.
  void begin(std::size_t subject, const compute_place& where, const cost& so_far);
  /// Adds what has passed since the last call.
  void measure(double now_s);
  /// Of a running subject, up to the last measure().
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
  std::vector<gpu_reading> last_;  ///< of each GPU
  double last_s_;
  std::map<std::size_t, user> running_;
  cost total_;
};

}  // namespace voxherd
