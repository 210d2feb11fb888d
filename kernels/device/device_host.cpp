#include "core/device.hpp"

#include <utility>

namespace voxherd {

bool built_with_cuda() { return false; }

std::vector<gpu> visible_gpus(std::string* why_none) {
  if (why_none) *why_none = "this program was built without CUDA; rebuild with -DVOXHERD_CUDA=ON (needs nvcc)";
  return {};
}

void use_device(const device&) {}

std::size_t free_device_bytes(const device&) { return 0; }

std::size_t peak_device_bytes() { return 0; }

host_buffer::host_buffer(const device&, std::size_t bytes) : data_(new std::byte[bytes]), bytes_(bytes) {}

host_buffer::~host_buffer() { delete[] data_; }

host_buffer::host_buffer(host_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

host_buffer& host_buffer::operator=(host_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace voxherd
