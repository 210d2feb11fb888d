#pragma once

#include "core/command.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

/// A format that results can be exported to: one word after `--to`.
struct export_kind {
  const char* name;
  const char* place;    ///< type of its output: "DIR" or "FILE"
  const char* meaning;  ///< for the help text
  /// Declares the format's own options; null for none. Formats may share an option by name; giving an option that the
  /// chosen format does not have is an error.
  void (*options)(po::options_description&);
  /// Collective. Throws failure.
  void (*run)(session&, const export_settings&, const arguments&);
};

}  // namespace voxherd
