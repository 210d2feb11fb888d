#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/tools/cohort/manifest.hpp"

namespace voxherd {

/// What has become of one subject.
struct subject_status {
  std::size_t task = 0;
  std::string name, out;
  std::string state;         ///< whole, running, partial, failed or "not begun"
  double done = 0;           ///< part of the items in the file, 0 to 1
  std::string detail;        ///< reason of a failure, what was stopped
  int exit_status = 0;       ///< that a failed subject left; 0 where none is known
  bool begin_again = false;  ///< would come further if submitted once more as it is
  double gpu_hours = 0, core_hours = 0;
};

/// Read from the result, OUT.part and its journal, OUT.lock and OUT.task.json; nothing is changed.
subject_status status_of(const cohort_subject& subject);

nlohmann::json as_json(const subject_status& s);
subject_status status_from_json(const nlohmann::json& j);

}  // namespace voxherd
