#pragma once

#include "core/command.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

/// A format that results can be exported to: one word after `--to`.
struct export_kind {
  const char* name;
  const char* place;    ///< type of its output: "DIR" or "FILE"
  const char* meaning;  ///< for the help text
  bool has_labels;      ///< uses --subject and --session
  /// Collective. Throws failure.
  void (*run)(session&, const export_settings&);
};

}  // namespace voxherd
