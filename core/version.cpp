#include "core/version.hpp"

namespace voxherd {

const char* const version = VOXHERD_VERSION;

}  // namespace voxherd
