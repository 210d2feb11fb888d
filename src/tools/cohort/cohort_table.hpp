#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/tools/cohort/subject_status.hpp"

namespace voxherd {

/// "1-3,7": what `sbatch --array` takes. `tasks` rise.
std::string array_list(const std::vector<std::size_t>& tasks);

/// Tasks that would come further if submitted as they are; those that need repairing first.
std::vector<std::size_t> tasks_to_submit(const std::vector<subject_status>& all);
std::vector<std::size_t> tasks_to_repair(const std::vector<subject_status>& all);

/// The table for people: a line a subject, the sums, and what to submit.
std::string cohort_text(const std::string& manifest, const std::vector<subject_status>& all);

nlohmann::json cohort_json(const std::string& manifest, const std::vector<subject_status>& all);

}  // namespace voxherd
