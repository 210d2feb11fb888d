#pragma once

#include <cstddef>
#include <memory>

namespace voxherd {

/// Occupies `bytes` of the current GPU's memory until the last copy is destroyed, as another program would: for tests
/// of GPUs with little memory. Throws device_error.
std::shared_ptr<void> hold_device_memory(std::size_t bytes);

}  // namespace voxherd
