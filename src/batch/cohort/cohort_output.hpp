#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/batch/cohort/subject_status.hpp"
#include "src/show/page.hpp"

namespace voxherd {

/// The argument of `sbatch --array`, e.g. "1-3,7". `tasks` are in increasing order.
std::string array_list(const std::vector<std::size_t>& tasks);

/// Tasks that would progress if submitted unchanged; tasks that must be repaired first.
std::vector<std::size_t> tasks_to_submit(const std::vector<subject_status>& all);
std::vector<std::size_t> tasks_to_repair(const std::vector<subject_status>& all);

/// The printed table: one line per subject, the totals, and what to submit; `script_words`: what follows the batch
/// script's name there.
std::string cohort_text(const std::string& script_words, const std::vector<subject_status>& all);

nlohmann::json cohort_json(const std::string& manifest, const std::vector<subject_status>& all);

}  // namespace voxherd

namespace voxherd::report {

/// One page over all complete subjects: the median of each output, and first the subjects whose medians are far from
/// those of the others. Subjects are linked to their own pages if these exist beside their results; `path`: of the
/// page. Throws failure if a result cannot be read.
page make_cohort_page(const std::string& manifest, const std::vector<subject_status>& subjects,
                      const std::string& path);

}  // namespace voxherd::report
