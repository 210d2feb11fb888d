#pragma once

#include <string>
#include <vector>

#include "src/tools/bids/series.hpp"

namespace voxherd {

/// The dynamic series (DCE-MRI or CT) that the filter names by `dynamic`, sorted by name, with the options of `voxherd
/// perfusion` that name their files. BIDS has no names for them and their regions, so that all are chosen by the
/// filter. `options`: of the user, which are not repeated. Throws failure: missing_input, usage without a filter.
std::vector<bids_series> find_dynamic_series(const series_request& wanted, const std::vector<std::string>& options);

}  // namespace voxherd
