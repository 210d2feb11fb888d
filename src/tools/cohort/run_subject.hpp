#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// The subject's command, with its options and the words in `more` parsed, ready to run. Throws failure with the
/// manifest's line: unknown command, command without a result, wrong option.
std::unique_ptr<prepared_command> prepare_subject(const cohort_subject& subject, const std::vector<std::string>& more);

/// Creates the folder of a result if it is missing. Throws failure (disk).
void create_folder_for(const std::string& out);

/// Runs the subject's command on all ranks, as if typed. Meanwhile OUT.task.json records command, host and job, and at
/// the end the status. Creates the result's folder. Collective; returns and throws what the command does.
exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more);

}  // namespace voxherd
