#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/track/field.hpp"

namespace voxherd::track {

struct length_sum {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Adds up pairs with the same key in device memory: only the sums leave it.
class pair_reducer {
 public:
  /// Room for pairs, and their number, which is set to 0.
  void reserve(std::uint64_t*& keys, std::uint64_t*& steps, unsigned long long*& used, unsigned long long& room,
               cudaStream_t stream) {
    constexpr std::size_t pairs = std::size_t{1} << 26;
    keys_.reserve(pairs), sorted_keys_.reserve(pairs), steps_.reserve(pairs), sorted_steps_.reserve(pairs);
    used_.reserve(1);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(used_.data(), 0, sizeof(unsigned long long), stream));
    keys = keys_.data(), steps = steps_.data(), used = used_.data(), room = pairs;
  }

  std::uint64_t used(cudaStream_t stream) const { return fetched(used_.data(), 1, stream).front(); }

  /// Appends the sums of the first `pairs` of them.
  void reduce(std::size_t pairs, std::vector<pair_entry>& out, cudaStream_t stream) {
    if (pairs == 0) return;
    const auto n = static_cast<int>(pairs);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys_.data(), sorted_keys_.data(), steps_.data(),
                                             sorted_steps_.data(), n, 0, 64, stream);
    });
    device_buffer<std::uint32_t> counts(pairs), runs(1);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRunLengthEncode::Encode(scratch, bytes, sorted_keys_.data(), keys_.data(), counts.data(),
                                                runs.data(), n, stream);
    });
    device_buffer<std::uint64_t> sums(pairs), same_keys(pairs);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::ReduceByKey(scratch, bytes, sorted_keys_.data(), same_keys.data(), sorted_steps_.data(),
                                            sums.data(), runs.data(), length_sum{}, n, stream);
    });
    const std::uint32_t kept = fetched(runs.data(), 1, stream).front();
    append(fetched(keys_.data(), kept, stream), fetched(counts.data(), kept, stream),
           fetched(sums.data(), kept, stream), out);
  }

 private:
  static void append(const std::vector<std::uint64_t>& keys, const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint64_t>& sums, std::vector<pair_entry>& out) {
    for (std::size_t i = 0; i < keys.size(); ++i) out.push_back({keys[i], counts[i], sums[i]});
  }

  template <class T>
  static std::vector<T> fetched(const T* from, std::size_t count, cudaStream_t stream) {
    std::vector<T> to(count);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
    VOXHERD_CUDA_CHECK(cudaStreamSynchronize(stream));
    return to;
  }

  /// Calls a function of CUB, which first says how much scratch memory it needs.
  template <class Call>
  void with_scratch(const Call& call) {
    std::size_t bytes = 0;
    VOXHERD_CUDA_CHECK(call(nullptr, bytes));
    scratch_.reserve(std::max<std::size_t>(1, bytes));
    VOXHERD_CUDA_CHECK(call(scratch_.data(), bytes));
  }

  device_buffer<std::uint64_t> keys_, sorted_keys_;
  device_buffer<std::uint64_t> steps_, sorted_steps_;
  device_buffer<unsigned long long> used_;
  device_buffer<std::uint8_t> scratch_;
};

}  // namespace voxherd::track
