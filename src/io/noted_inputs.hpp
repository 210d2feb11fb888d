#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace voxherd {

/// At the end of a run: throws failure (disk) that names the first file of `inputs` (by name, what fingerprint()
/// returned) whose content differs from its fingerprint. Only files whose state has changed are read again. A file
/// that no longer exists is logged.
void check_inputs(const nlohmann::json& inputs);

}  // namespace voxherd
