#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "core/device.hpp"

namespace voxherd {

/// Throws device_error (device_out_of_memory if that is the cause) with the failed call and the driver's message.
inline void cuda_check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // otherwise the next check would report an out-of-memory error again
  const std::string message = std::string("CUDA: ") + call + ": " + cudaGetErrorString(code);
  if (code == cudaErrorMemoryAllocation) throw device_out_of_memory(message);
  throw device_error(message);
}

#define VOXHERD_CUDA_CHECK(call) ::voxherd::cuda_check((call), #call)

void count_device_bytes(std::ptrdiff_t change);

/// Device memory for `count` values of T, counted in peak_device_bytes(). Throws device_out_of_memory.
template <class T>
class device_buffer {
 public:
  device_buffer() = default;
  explicit device_buffer(std::size_t count) : count_(count) {
    if (count == 0) return;
    VOXHERD_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    count_device_bytes(static_cast<std::ptrdiff_t>(count * sizeof(T)));
  }
  ~device_buffer() {
    if (data_ == nullptr) return;
    cudaFree(data_);
    count_device_bytes(-static_cast<std::ptrdiff_t>(count_ * sizeof(T)));
  }
  device_buffer(device_buffer&& o) noexcept : data_(o.data_), count_(o.count_) { o.data_ = nullptr, o.count_ = 0; }
  device_buffer& operator=(device_buffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(count_, o.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// Grows to at least `count`; the old contents are lost.
  void reserve(std::size_t count) {
    if (count > count_) {
      *this = device_buffer();
      *this = device_buffer(count);
    }
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// A stream that does not synchronise with the default stream.
class cuda_stream {
 public:
  cuda_stream() { VOXHERD_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~cuda_stream() { cudaStreamDestroy(stream_); }
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { VOXHERD_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace voxherd
