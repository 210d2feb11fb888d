#pragma once

#include <boost/program_options.hpp>
#include <span>

#include "core/command.hpp"

namespace voxherd {

/// One word after `voxherd phantom`: a kind of phantom, or `score`. The command adds the options common to all kinds
/// (phantom_options.hpp); a kind adds only its own.
struct phantom_kind {
  const char* name;
  void (*options)(po::options_description&);
  exit_status (*run)(session&, const arguments&);
};

extern const phantom_kind dwi_phantom_kind;
extern const phantom_kind liver_phantom_kind;
extern const phantom_kind score_phantom_kind;

}  // namespace voxherd
