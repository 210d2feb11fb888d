#pragma once

#include <string>
#include <vector>

#include "core/options.hpp"

namespace voxherd {

enum class bids_level { participant, group };

/// Options of `voxherd bids`.
struct bids_request {
  std::string bids_dir, out_dir;
  bids_level level = bids_level::participant;
  std::vector<std::string> analyses;  ///< in the order in which they are computed
  std::vector<std::string> subjects, sessions, derivatives;
  std::string filter_file, work_dir = "work";
  std::string series;  ///< name of the only one; "" for all
  /// Options added to one analysis, and to all of them.
  std::vector<std::string> tensor_options, ballstick_options, track_options, connect_options, perfusion_options, more;
  std::optional<int> threads_of_all, threads_per_rank;
  std::optional<double> memory_mb;
  std::size_t per_gpu = 2, per_node = 0;  ///< series at a time; see cohort_run
  bool skip_validation = false, stop_on_first_crash = false, no_tracking = false, shows_version = false;
  bool tracts = false, half_positions = false;
};

const option_table<bids_request>& bids_options();

/// The spellings of other BIDS apps: -w, -d, and _ instead of - in the names of options.
std::vector<std::string> from_bids_app(const std::vector<std::string>& words);

}  // namespace voxherd
