#include "kernels/device/held_memory.hpp"

#include "kernels/device/cuda_check.cuh"

namespace voxherd {

std::shared_ptr<void> hold_device_memory(std::size_t bytes) {
  return std::make_shared<device_buffer<std::byte>>(bytes);
}

}  // namespace voxherd
