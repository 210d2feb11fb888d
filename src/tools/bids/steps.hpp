#pragma once

#include <string>
#include <vector>

#include "src/tools/bids/request.hpp"
#include "src/tools/bids/series.hpp"
#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// One analysis of one series, as a subject of a cohort.
struct bids_step {
  std::string analysis;
  cohort_subject run;
  std::string fibres = {};  ///< file of its streamlines or paths; "" for none
};

bool computes(const bids_request& request, const std::string& analysis);

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
