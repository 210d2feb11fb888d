#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace voxherd {

enum class backend { cpu, cuda };

/// What one rank computes on: a GPU, or a number of CPU threads. Chosen once, at the start.
struct device {
  backend kind = backend::cpu;
  int threads = 1;            ///< CPU threads (cpu backend)
  int cuda_ordinal = 0;       ///< index among the GPUs this process sees (cuda backend)
  bool among_others = false;  ///< --backend mixed: other ranks may use another kind of device
};

/// One GPU as the driver describes it.
struct gpu {
  int ordinal = 0;
  std::string name;
  std::array<unsigned char, 16> uuid{};
  std::size_t memory_bytes = 0;
  int compute_capability = 0;  ///< 90 for 9.0
};

/// A CUDA call that failed; the message contains the call and the driver's error.
struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The device has too little free memory for the request; a smaller batch may fit.
struct device_out_of_memory : device_error {
  using device_error::device_error;
};

/// Whether this program was built with CUDA kernels.
bool built_with_cuda();

/// The GPUs this process may use; empty without CUDA, driver or GPU. `why_none` then gets the reason, unless null.
/// Makes the first CUDA call of the process: never called in CPU mode.
std::vector<gpu> visible_gpus(std::string* why_none = nullptr);

/// Makes `d` the calling thread's GPU. Does nothing for a CPU.
void use_device(const device& d);

/// Free device memory, in bytes (0 on a CPU).
std::size_t free_device_bytes(const device& d);

/// Peak device memory of this process since the start, in bytes (0 on a CPU).
std::size_t peak_device_bytes();

/// Page-locked host memory when `d` is a GPU, so that copies overlap kernels; ordinary memory otherwise.
/// Throws std::bad_alloc or device_error.
class host_buffer {
 public:
  host_buffer() = default;
  host_buffer(const device& d, std::size_t bytes);
  ~host_buffer();
  host_buffer(host_buffer&& other) noexcept;
  host_buffer& operator=(host_buffer&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace voxherd
