#pragma once

#include <cstdint>
#include <string>

#include "src/tools/doctor/finding.hpp"

namespace voxherd {

/// Memory, shared memory and limits of this process (ulimit).
findings check_memory();

/// The memory limit of a control group, as its file memory.max says: bytes, or "max". 0 for none.
std::uint64_t memory_limit(const std::string& text);

}  // namespace voxherd
