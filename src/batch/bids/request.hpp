#pragma once

#include <string>
#include <vector>

#include "core/options.hpp"
#include "src/batch/bids/series.hpp"
#include "src/batch/cohort/manifest.hpp"

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
  bool skip_validation = false, stop_on_first_crash = false, no_tracking = false;
  bool paths = false, half_positions = false;
};

const option_table<bids_request>& bids_options();

/// The options that the user adds to an analysis.
const std::vector<std::string>& options_of(const bids_request& request, const std::string& analysis);

/// The spellings of other BIDS apps: -w, -d, and _ instead of - in the names of options.
std::vector<std::string> from_bids_app(const std::vector<std::string>& words);

/// One analysis of one series, as a subject of a cohort.
struct bids_step {
  std::string analysis;
  cohort_subject run;
  std::string fibres = {};  ///< file of its streamlines or paths; "" for none
};

/// How many of the requested analyses are of dynamic series; the others are of diffusion series.
std::size_t count_dynamic(const bids_request& request);

/// Whether an analysis is one of this kind of series.
bool applies(const bids_series& series, const std::string& analysis);

/// The user's options of the analysis of dynamic series.
std::vector<std::string> perfusion_words(const bids_request& request);

/// The steps of a series, in their order; their results are in the work folder. Throws failure (bad_data) if an
/// analysis needs a file that the series does not have.
std::vector<bids_step> plan_steps(const bids_request& request, const bids_series& series);

/// Options of every step: threads and memory. `ranks_per_node` share the threads of a node.
std::vector<std::string> common_words(const bids_request& request, int ranks_per_node);

/// The result of an analysis of a series.
std::string result_path(const bids_request& request, const bids_series& series, const std::string& analysis);

}  // namespace voxherd
