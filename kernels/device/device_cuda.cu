#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <utility>
#include <vector>

#include "core/control_groups.hpp"
#include "core/threads.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/held_memory.hpp"
#include "kernels/device/large_copy.cuh"

namespace voxherd {

namespace {
std::atomic<std::ptrdiff_t> bytes_now{0};
std::atomic<std::ptrdiff_t> bytes_peak{0};
}  // namespace

void count_device_bytes(std::ptrdiff_t change) {
  const std::ptrdiff_t now = bytes_now += change;
  std::ptrdiff_t peak = bytes_peak.load();
  while (now > peak && !bytes_peak.compare_exchange_weak(peak, now)) {
  }
}

void copy_large_array(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t piece_bytes = std::size_t{32} << 20;
  constexpr std::size_t max_helpers = 3;
  if (bytes == 0) return;
  int ordinal = 0;
  VOXHERD_CUDA_CHECK(cudaGetDevice(&ordinal));
  std::atomic<std::size_t> next{0};
  const std::function<void()> copy_pieces = [&] {
    VOXHERD_CUDA_CHECK(cudaSetDevice(ordinal));
    const cuda_stream stream;
    for (std::size_t at = next.fetch_add(piece_bytes); at < bytes; at = next.fetch_add(piece_bytes))
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at,
                                         std::min(piece_bytes, bytes - at), cudaMemcpyHostToDevice, stream));
    stream.wait();
  };
  const auto other_cores = static_cast<std::size_t>(std::max(1, usable_cores())) - 1;
  const std::size_t other_pieces = (bytes - 1) / piece_bytes;
  std::vector<std::future<void>> helpers =
      start_helpers(std::min({max_helpers, other_cores, other_pieces}), copy_pieces);
  copy_pieces();
  for (std::future<void>& helper : helpers) helper.get();
}

std::size_t peak_device_bytes() { return static_cast<std::size_t>(bytes_peak.load()); }

bool built_with_cuda() { return true; }

std::vector<gpu> visible_gpus(std::string* why_none) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    int driver = 0;  // stays 0 if there is none
    const bool no_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    if (why_none)
      *why_none = no_driver ? "no NVIDIA driver" : code == cudaSuccess ? "no GPU is visible" : cudaGetErrorString(code);
    return {};
  }
  std::vector<gpu> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    VOXHERD_CUDA_CHECK(cudaGetDeviceProperties(&p, i));
    gpu g;
    g.ordinal = i;
    g.name = p.name;
    std::memcpy(g.uuid.data(), p.uuid.bytes, g.uuid.size());
    g.compute_capability = p.major * 10 + p.minor;
    g.memory_bytes = p.totalGlobalMem;
    found.push_back(g);
  }
  return found;
}

void use_device(const device& d) {
  if (d.kind == backend::cuda) VOXHERD_CUDA_CHECK(cudaSetDevice(d.cuda_ordinal));
}

std::size_t free_device_bytes(const device& d) {
  if (d.kind == backend::cpu) return 0;
  use_device(d);
  std::size_t free_bytes = 0, total_bytes = 0;
  VOXHERD_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes;
}

host_buffer::host_buffer(const device& d, std::size_t bytes) : bytes_(bytes), pinned_(d.kind == backend::cuda) {
  if (pinned_) {
    use_device(d);
    VOXHERD_CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), bytes));
  } else {
    data_ = new std::byte[bytes];
  }
}

host_buffer::~host_buffer() {
  if (pinned_) {
    cudaFreeHost(data_);
  } else {
    delete[] data_;
  }
}

host_buffer::host_buffer(host_buffer&& o) noexcept
    : data_(std::exchange(o.data_, nullptr)),
      bytes_(std::exchange(o.bytes_, 0)),
      pinned_(std::exchange(o.pinned_, false)) {}

host_buffer& host_buffer::operator=(host_buffer&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(bytes_, o.bytes_);
  std::swap(pinned_, o.pinned_);
  return *this;
}

std::shared_ptr<void> hold_device_memory(std::size_t bytes) {
  return std::make_shared<device_buffer<std::byte>>(bytes);
}

}  // namespace voxherd
