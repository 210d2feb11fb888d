#pragma once

#include <initializer_list>

#include "mpi/comm/session.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

/// The first word after `voxherd phantom`: a kind of phantom to make, or `score`.
struct phantom_kind {
  const char* name;
  std::initializer_list<const char*> options;  ///< that only this kind has
  exit_status (*run)(session&, const phantom_request&);
};

extern const phantom_kind dwi_phantom_kind;
extern const phantom_kind liver_phantom_kind;
extern const phantom_kind score_phantom_kind;

}  // namespace voxherd
