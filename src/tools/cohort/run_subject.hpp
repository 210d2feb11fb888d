#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// The subject's command with its options and `more` words read, ready to run. Throws failure naming the manifest's
/// line: an unknown command, one without a result, a wrong option.
std::unique_ptr<prepared_command> prepare_subject(const cohort_subject& subject, const std::vector<std::string>& more);

/// Runs the subject's command on all ranks, as if typed, and keeps OUT.task.json meanwhile: what runs where, and how it
/// ended. Makes the result's folder. Collective; returns and throws what the command does.
exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more);

}  // namespace voxherd
