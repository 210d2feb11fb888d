#pragma once

#include <algorithm>

#include "kernels/device/cuda_check.cuh"
#include "kernels/track/stamped_table.hpp"

namespace voxherd::track {

/// The tables of all threads of a kernel, in device memory.
template <class Entry>
struct thread_tables {
  Entry* few = nullptr;  ///< of all threads, then `many`: the first ones are close to each other
  Entry* many = nullptr;
  std::uint32_t many_entries = 0;
  std::uint32_t* stamps = nullptr;  ///< the last one of each thread

  __device__ stamped_table<Entry> table(std::size_t thread) const {
    return {few + thread * Entry::few, Entry::few, many + thread * many_entries, many_entries, stamps[thread]};
  }
  __device__ void keep(std::size_t thread, const stamped_table<Entry>& used) const { stamps[thread] = used.stamp(); }
};

/// Keeps the tables from one launch to the next; stamps go on, so that they are cleared only when they grow.
template <class Entry>
class device_tables {
 public:
  static std::size_t bytes_per_thread(std::uint32_t entries) {
    return (Entry::few + static_cast<std::size_t>(entries)) * sizeof(Entry) + sizeof(std::uint32_t);
  }

  /// `streamlines`: drawn in the next launch.
  thread_tables<Entry> reserve(std::size_t threads, std::uint32_t entries, std::uint64_t streamlines,
                               cudaStream_t stream) {
    constexpr std::uint64_t stamps_of_a_streamline = 4;  // two passes, two halves
    used_stamps_ += stamps_of_a_streamline * streamlines + 1;
    if (threads > threads_ || entries != entries_ || used_stamps_ > 0xffffffff) {
      clear(std::max(threads, threads_), entries, stream);
      used_stamps_ = stamps_of_a_streamline * streamlines + 1;
    }
    return {few_.data(), many_.data(), entries, stamps_.data()};
  }

 private:
  void clear(std::size_t threads, std::uint32_t entries, cudaStream_t stream) {
    threads_ = 0;
    zero(few_, threads * Entry::few, stream);
    zero(many_, threads * entries, stream);
    zero(stamps_, threads, stream);
    threads_ = threads;
    entries_ = entries;
  }
  template <class T>
  static void zero(device_buffer<T>& buffer, std::size_t count, cudaStream_t stream) {
    buffer.reserve(count);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(buffer.data(), 0, count * sizeof(T), stream));
  }

  device_buffer<Entry> few_, many_;
  device_buffer<std::uint32_t> stamps_;
  std::size_t threads_ = 0;
  std::uint32_t entries_ = 0;
  std::uint64_t used_stamps_ = 0;
};

}  // namespace voxherd::track
