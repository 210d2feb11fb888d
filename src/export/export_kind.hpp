#pragma once

#include "core/command.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

/// One word after `--to`: what a result can be written as.
struct export_kind {
  const char* name;
  const char* place;    ///< what it writes: "DIR" or "FILE"
  const char* meaning;  ///< for the help text
  bool has_labels;      ///< uses --subject and --session
  /// Collective. Throws failure.
  void (*run)(session&, const export_settings&);
};

}  // namespace voxherd
