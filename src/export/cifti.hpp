#pragma once

#include "src/export/export_plan.hpp"

namespace voxherd {

extern const export_kind cifti_export;

}  // namespace voxherd
