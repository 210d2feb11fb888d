#pragma once

#include "core/command.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

/// One word after `--to`: what a result can be written as.
struct export_kind {
  const char* name;
  const char* place;    ///< what it writes: "DIR" or "FILE"
  const char* meaning;  ///< for the help text
  /// Options of its own, null for none. Another kind may share one by name; given with a kind that has it not, it is an
  /// error.
  void (*options)(po::options_description&);
  /// Collective. Throws failure.
  void (*run)(session&, const export_settings&, const arguments&);
};

}  // namespace voxherd
