#pragma once

#include <string>
#include <vector>

#include "src/tools/report/page.hpp"

namespace voxherd::report {

/// One subject of a cohort: its result, and whether it is complete.
struct cohort_entry {
  std::string name, out, state;
};

/// One page over all complete subjects: the median of each output, and first the subjects whose medians are far from
/// those of the others. Subjects are linked to their own pages if these exist beside their results; `path`: of the
/// page. Throws failure if a result cannot be read.
page make_cohort_page(const std::string& manifest, const std::vector<cohort_entry>& subjects, const std::string& path);

}  // namespace voxherd::report
