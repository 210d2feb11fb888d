#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/batch/cohort/cost.hpp"
#include "src/batch/cohort/manifest.hpp"

namespace voxherd {

enum class subject_state { complete, running, partial, failed, not_started };
/// "complete", "not started", ..., in the order of the states.
inline constexpr const char* subject_state_names[] = {"complete", "running", "partial", "failed", "not started"};
inline const char* state_name(subject_state state) { return subject_state_names[static_cast<std::size_t>(state)]; }

/// The state of one subject.
struct subject_status {
  std::size_t task = 0;
  std::string name, out;
  subject_state state = subject_state::not_started;
  double done = 0;        ///< fraction of the items in the file, 0 to 1
  std::string detail;     ///< reason of a failure, name of the unfinished step
  int exit_status = 0;    ///< exit status of a failed subject; 0 if unknown
  bool resubmit = false;  ///< would progress if submitted again unchanged
  cost spent;             ///< in all runs so far
};

/// Determined from the result, OUT.part and its journal, OUT.lock, OUT.task.json and OUT.cost.json. The subject's
/// command (its words and `more`) is asked whether a complete result is its own, and whether it has more to do: the
/// result of another command, or of other inputs or options, is a failure. Changes no file.
subject_status find_status(const cohort_subject& subject, const std::vector<std::string>& more);

nlohmann::json as_json(const subject_status& s);
subject_status status_from_json(const nlohmann::json& j);

}  // namespace voxherd
