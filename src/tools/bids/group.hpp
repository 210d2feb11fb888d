#pragma once

#include <vector>

#include "src/tools/bids/request.hpp"
#include "src/tools/bids/series.hpp"

namespace voxherd {

/// Writes group_dwi.tsv and group_dwi.json, and group_perf of dynamic series: for each series the state of each
/// analysis and the median of each output. Reads the results in the work folder. For one process. Throws failure.
void write_group(const bids_request& request, const std::vector<bids_series>& all);

}  // namespace voxherd
