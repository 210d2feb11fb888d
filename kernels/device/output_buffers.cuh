#pragma once

#include <array>

#include "kernels/device/cuda_check.cuh"

namespace voxherd {

/// Device memory for those outputs of a batch that the caller wants.
template <std::size_t Count>
class output_buffers {
 public:
  explicit output_buffers(const std::array<std::size_t, Count>& bytes_per_item) : bytes_per_item_(bytes_per_item) {}

  /// Makes room for `count` items of every output that is not null in `wanted`; their places go to `places`. Throws
  /// device_out_of_memory.
  void reserve(std::size_t count, void* const (&wanted)[Count], void* (&places)[Count]) {
    constexpr std::size_t alignment = 256;
    std::size_t offsets[Count], end = 0;
    for (std::size_t i = 0; i < Count; ++i) {
      offsets[i] = end;
      if (wanted[i] != nullptr) end += (count * bytes_per_item_[i] + alignment - 1) / alignment * alignment;
    }
    memory_.reserve(end);
    for (std::size_t i = 0; i < Count; ++i) places[i] = wanted[i] != nullptr ? memory_.data() + offsets[i] : nullptr;
  }

  void release() { memory_ = {}; }

  /// Copies `count` items of the outputs that are not null in `to` from where reserve() put them.
  void fetch(std::size_t count, void* const (&places)[Count], void* const (&to)[Count], cudaStream_t stream) const {
    for (std::size_t i = 0; i < Count; ++i) {
      if (to[i] == nullptr) continue;
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to[i], places[i], count * bytes_per_item_[i], cudaMemcpyDeviceToHost, stream));
    }
  }

 private:
  std::array<std::size_t, Count> bytes_per_item_;
  device_buffer<std::byte> memory_;
};

}  // namespace voxherd
