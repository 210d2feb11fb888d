#pragma once

namespace voxherd {

extern const char* const version;  ///< "0.1.0"

}  // namespace voxherd
