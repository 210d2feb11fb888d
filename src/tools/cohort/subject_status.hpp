#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/tools/cohort/cost.hpp"
#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// The state of one subject.
struct subject_status {
  std::size_t task = 0;
  std::string name, out;
  std::string state;      ///< complete, running, partial, failed or "not started"
  double done = 0;        ///< fraction of the items in the file, 0 to 1
  std::string detail;     ///< reason of a failure, name of the unfinished step
  int exit_status = 0;    ///< of a failed subject; 0 if unknown
  bool resubmit = false;  ///< would progress if submitted again unchanged
  cost spent;             ///< in all runs so far
};

/// Determined from the result, OUT.part and its journal, OUT.lock, OUT.task.json and OUT.cost.json. Changes no file.
subject_status find_status(const cohort_subject& subject);

nlohmann::json as_json(const subject_status& s);
subject_status status_from_json(const nlohmann::json& j);

}  // namespace voxherd
