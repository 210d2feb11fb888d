#pragma once

#include <string>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// Adds a section with the fibres of a result in three views: coloured by direction and, if there is an output of that
/// name with one number per fibre, by it. At most 20,000 fibres, evenly spread over the result.
void add_fibres(result_draft& d, const std::string& measure);

}  // namespace voxherd::report
