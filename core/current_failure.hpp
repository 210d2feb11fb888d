#pragma once

#include "core/failure.hpp"

namespace voxherd {

/// The current exception as a failure: a failure unchanged, a device error, lack of memory, otherwise a defect.
failure current_failure();

}  // namespace voxherd
