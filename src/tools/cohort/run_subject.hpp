#pragma once

#include <string>
#include <vector>

#include "core/command.hpp"
#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// The subject's command and its arguments, `more` words added. Throws failure naming the manifest's line: no such
/// command, none that makes a result, an option it has not.
struct subject_call {
  const command* what = nullptr;
  arguments args;
};
subject_call call_of(const cohort_subject& subject, const std::vector<std::string>& more);

/// Runs the subject's command on all ranks, as if typed, and keeps OUT.task.json meanwhile: what runs where, and how it
/// ended. Makes the result's folder. Collective; returns and throws what the command does.
exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more);

}  // namespace voxherd
