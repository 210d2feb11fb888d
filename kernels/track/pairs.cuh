#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/track/field.hpp"

/// The pairs of a matrix on a GPU: streamlines leave the list of what they visit; then warps make pairs of the lists,
/// which are sorted and added up. Only the sums leave the device.
namespace voxherd::track {

/// Where the list of a streamline is among all lists.
struct list_place {
  std::uint64_t begin;
  std::uint32_t size;
};

/// Keeps the list of each streamline. Where there is too little room, `used` says how much is needed.
struct list_sink {
  struct counts {
    unsigned long long crossings, lists;
  };
  crossing* own = nullptr;  ///< a list for each thread, while it draws a streamline; null: no pairs are wanted
  std::uint32_t own_size = 0;
  crossing* crossings = nullptr;
  list_place* lists = nullptr;  ///< room for all streamlines of the launch
  counts* used = nullptr;
  unsigned long long room = 0;  ///< for crossings

  __device__ crossing* list(std::size_t thread) const { return own == nullptr ? nullptr : own + thread * own_size; }

  template <class Walker>
  __device__ void operator()(const Walker& w) const {
    if (own == nullptr || w.crossings() < 2) return;
    const std::uint32_t size = w.crossings();
    const unsigned long long at = atomicAdd(&used->crossings, static_cast<unsigned long long>(size));
    if (at + size > room) return;
    lists[atomicAdd(&used->lists, 1ull)] = {at, size};
    for (std::uint32_t i = 0; i < size; ++i) crossings[at + i] = w.output().crossings[i];
  }
};

/// A pair is one number while it is sorted: row * columns + column, then the steps in the lowest bits.
struct pair_format {
  std::uint32_t rows = 0;     ///< as of for_each_pair()
  std::uint64_t columns = 1;  ///< at least those of the matrix
  int key_bits = 0, step_bits = 0;

  VOXHERD_FUNCTION std::uint64_t pack(std::uint64_t key, std::uint32_t steps) const {
    return ((key >> 32) * columns + (key & 0xffffffff)) << step_bits | steps;
  }
  VOXHERD_FUNCTION std::uint64_t dense_key(std::uint64_t packed) const { return packed >> step_bits; }
  VOXHERD_FUNCTION std::uint64_t steps(std::uint64_t packed) const {
    return packed & ((std::uint64_t{1} << step_bits) - 1);
  }
  VOXHERD_FUNCTION std::uint64_t key(std::uint64_t dense) const { return dense / columns << 32 | dense % columns; }
};

/// Equal pairs, added up.
struct pair_sum {
  std::uint64_t count, steps;
};
struct add_pair_sums {
  VOXHERD_FUNCTION pair_sum operator()(const pair_sum& a, const pair_sum& b) const {
    return {a.count + b.count, a.steps + b.steps};
  }
};
struct as_pair_sum {
  pair_format format;
  VOXHERD_FUNCTION pair_sum operator()(std::uint64_t packed) const { return {1, format.steps(packed)}; }
};
struct as_dense_key {
  pair_format format;
  VOXHERD_FUNCTION std::uint64_t operator()(std::uint64_t packed) const { return format.dense_key(packed); }
};
/// 1 for the first of equal pairs.
struct is_first_pair {
  const std::uint64_t* packed;
  pair_format format;
  VOXHERD_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    return i == 0 || format.dense_key(packed[i]) != format.dense_key(packed[i - 1]) ? 1 : 0;
  }
};

constexpr unsigned pair_threads = 128;

/// Calls sink(has, key, steps) for each two crossings of a list, with all lanes of a warp; `has` tells whether the
/// lane's two are a pair.
template <class Sink>
__device__ inline void for_each_pair_of_warp(const crossing* list, std::uint32_t size, std::uint32_t rows,
                                             const Sink& sink) {
  const std::uint64_t pairs = static_cast<std::uint64_t>(size) * (size - 1) / 2;
  for (std::uint64_t first = 0; first < pairs; first += 32) {
    const std::uint64_t p = first + threadIdx.x % 32;
    // Pair p is that of crossings i and k < i, where p = i (i - 1) / 2 + k. The root may be wrong by one.
    std::uint64_t i = static_cast<std::uint64_t>((1 + sqrtf(static_cast<float>(1 + 8 * p))) / 2);
    if (i * (i - 1) / 2 > p) --i;
    if (i * (i + 1) / 2 <= p) ++i;
    std::uint64_t key = 0;
    std::uint32_t steps = 0;
    const bool has = p < pairs && make_pair(list[i], list[p - i * (i - 1) / 2], rows, key, steps);
    sink(has, key, steps);
  }
}

/// Number of pairs of each list. One warp per list.
static __global__ void __launch_bounds__(pair_threads)
    count_pairs_kernel(const crossing* crossings, const list_place* lists, std::size_t count, std::uint32_t rows,
                       std::uint64_t* pairs) {
  const std::size_t list = (static_cast<std::size_t>(blockIdx.x) * pair_threads + threadIdx.x) / 32;
  if (list >= count) return;
  std::uint32_t own = 0;
  for_each_pair_of_warp(crossings + lists[list].begin, lists[list].size, rows,
                        [&](bool has, std::uint64_t, std::uint32_t) { own += has ? 1 : 0; });
  const std::uint32_t all = __reduce_add_sync(~0u, own);
  if (threadIdx.x % 32 == 0) pairs[list] = all;
}

/// Writes the pairs of list i from place begin[i] - begin[0] on. One warp per list.
static __global__ void __launch_bounds__(pair_threads)
    make_pairs_kernel(const crossing* crossings, const list_place* lists, std::size_t count,
                      const __grid_constant__ pair_format format, const std::uint64_t* begin, std::uint64_t* packed) {
  const std::size_t list = (static_cast<std::size_t>(blockIdx.x) * pair_threads + threadIdx.x) / 32;
  if (list >= count) return;
  std::uint64_t* next = packed + (begin[list] - begin[0]);
  const std::uint32_t before = (1u << threadIdx.x % 32) - 1;
  for_each_pair_of_warp(crossings + lists[list].begin, lists[list].size, format.rows,
                        [&](bool has, std::uint64_t key, std::uint32_t steps) {
                          const std::uint32_t lanes = __ballot_sync(~0u, has);
                          if (has) next[__popc(lanes & before)] = format.pack(key, steps);
                          next += __popc(lanes);
                        });
}

static __global__ void __launch_bounds__(pair_threads)
    entries_kernel(const std::uint64_t* keys, const pair_sum* sums, std::size_t count,
                   const __grid_constant__ pair_format format, pair_entry* entries) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * pair_threads + threadIdx.x;
  if (i < count) entries[i] = {format.key(keys[i]), sums[i].count, sums[i].steps};
}

/// Adds up the pairs of some streamlines in device memory.
class pair_adder {
 public:
  /// No pairs. `columns`: number of columns of both masks together; `max_steps`: of a streamline.
  void begin(std::uint32_t rows, std::uint32_t columns, std::uint32_t max_steps) {
    format_.rows = rows;
    format_.columns = columns;
    format_.key_bits = std::bit_width(static_cast<std::uint64_t>(columns) * columns);
    format_.step_bits = std::bit_width(max_steps);
    if (format_.key_bits + format_.step_bits > 64)
      throw device_error("the matrix has " + std::to_string(columns) + " columns, too many for a GPU; use the CPU");
    sums_.count = 0;
  }

  /// Where the lists of a launch go. `own_size`: room of a thread's list.
  list_sink begin_launch(std::uint64_t streamlines, std::uint32_t own_size, cudaStream_t stream) {
    find_rooms();
    crossings_.reserve(std::min<std::uint64_t>(crossing_room_, streamlines * own_size));
    lists_.reserve(streamlines);
    used_.reserve(1);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(used_.data(), 0, sizeof(list_sink::counts), stream));
    return {nullptr, own_size, crossings_.data(), lists_.data(), used_.data(), crossings_.size()};
  }

  /// Adds the pairs of the launch. Returns 1, or into how many parts it must be split because its lists do not fit in
  /// memory; then nothing is added.
  std::uint64_t end_launch(cudaStream_t stream) {
    const list_sink::counts used = fetched(used_.data(), stream);
    if (used.crossings > crossings_.size()) return used.crossings / crossings_.size() + 1;
    if (used.lists > 0) add_lists(used.lists, stream);
    return 1;
  }

  /// The sums of all pairs, in the order of their keys.
  void fetch(std::vector<pair_entry>& out, cudaStream_t stream) {
    out.resize(sums_.count);
    if (out.empty()) return;
    entries_.reserve(sums_.count);
    launch_items(entries_kernel, sums_.count, pair_threads, {pair_threads}, stream, sums_.keys.data(),
                 sums_.sums.data(), sums_.count, format_, entries_.data());
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(out.data(), entries_.data(), out.size() * sizeof(pair_entry), cudaMemcpyDeviceToHost, stream));
    VOXHERD_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

 private:
  /// Sums by key; the keys are dense.
  struct sum_list {
    device_buffer<std::uint64_t> keys;
    device_buffer<pair_sum> sums;
    std::size_t count = 0;

    void reserve(std::size_t room) { keys.reserve(room), sums.reserve(room); }
    void append(const sum_list& other, cudaStream_t stream) {
      copy(other.keys, keys, other.count, count, stream);
      copy(other.sums, sums, other.count, count, stream);
      count += other.count;
    }
    template <class T>
    static void copy(const device_buffer<T>& from, const device_buffer<T>& to, std::size_t n, std::size_t at,
                     cudaStream_t stream) {
      VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data() + at, from.data(), n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    }
  };

  /// Lists take a sixteenth of the memory that was free at the first launch, and pairs with their sorted copy a
  /// quarter.
  void find_rooms() {
    if (pair_room_ > 0) return;
    constexpr std::size_t max_crossings = std::size_t{1} << 27, max_pairs = std::size_t{1} << 29;
    std::size_t free = 0, all = 0;
    VOXHERD_CUDA_CHECK(cudaMemGetInfo(&free, &all));
    crossing_room_ = std::clamp<std::size_t>(free / 16 / sizeof(crossing), 1, max_crossings);
    pair_room_ = std::clamp<std::size_t>(free / 4 / (2 * sizeof(std::uint64_t)), 1, max_pairs);
  }

  void add_lists(std::size_t lists, cudaStream_t stream) {
    begin_.reserve(lists + 1);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(begin_.data() + lists, 0, sizeof(std::uint64_t), stream));
    launch_items(count_pairs_kernel, lists, pair_threads / 32, {pair_threads}, stream, crossings_.data(), lists_.data(),
                 lists, format_.rows, begin_.data());
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(scratch, bytes, begin_.data(), begin_.data(), static_cast<int>(lists + 1),
                                           stream);
    });
    for (std::size_t first = 0; first < lists;) {
      const std::size_t end = find_end(first, lists, stream);
      add_pairs(first, end, stream);
      first = end;
    }
  }

  /// The end of the lists from `first` on whose pairs fit in memory.
  std::size_t find_end(std::size_t first, std::size_t lists, cudaStream_t stream) const {
    const std::uint64_t begin = fetched(begin_.data() + first, stream);
    const auto fits = [&](std::size_t end) { return fetched(begin_.data() + end, stream) - begin <= pair_room_; };
    if (fits(lists)) return lists;
    std::size_t last = first, too_far = lists;
    while (too_far - last > 1) {
      const std::size_t middle = last + (too_far - last) / 2;
      (fits(middle) ? last : too_far) = middle;
    }
    if (last == first) throw device_out_of_memory("the pairs of one streamline do not fit");
    return last;
  }

  void add_pairs(std::size_t first, std::size_t end, cudaStream_t stream) {
    const std::uint64_t pairs = fetched(begin_.data() + end, stream) - fetched(begin_.data() + first, stream);
    if (pairs == 0) return;
    packed_.reserve(pairs), sorted_.reserve(pairs);
    launch_items(make_pairs_kernel, end - first, pair_threads / 32, {pair_threads}, stream, crossings_.data(),
                 lists_.data() + first, end - first, format_, begin_.data() + first, packed_.data());
    const auto n = static_cast<int>(pairs);
    cub::DoubleBuffer<std::uint64_t> packed(packed_.data(), sorted_.data());
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(scratch, bytes, packed, n, format_.step_bits,
                                            format_.step_bits + format_.key_bits, stream);
    });
    some_.reserve(count_firsts(packed.Current(), n, stream));
    reduce(thrust::make_transform_iterator(packed.Current(), as_dense_key{format_}),
           thrust::make_transform_iterator(packed.Current(), as_pair_sum{format_}), n, some_, stream);
    if (sums_.count == 0) {
      std::swap(sums_, some_);
    } else {
      merge(stream);
    }
  }

  std::size_t count_firsts(const std::uint64_t* packed, int n, cudaStream_t stream) {
    number_.reserve(1);
    const auto firsts =
        thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), is_first_pair{packed, format_});
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(scratch, bytes, firsts, number_.data(), n, stream);
    });
    return fetched(number_.data(), stream);
  }

  /// Adds up values with equal keys that follow each other.
  template <class Keys, class Sums>
  void reduce(Keys keys, Sums sums, int n, sum_list& to, cudaStream_t stream) {
    number_.reserve(1);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::ReduceByKey(scratch, bytes, keys, to.keys.data(), sums, to.sums.data(), number_.data(),
                                            add_pair_sums{}, n, stream);
    });
    to.count = fetched(number_.data(), stream);
  }

  /// Adds some_ to sums_.
  void merge(cudaStream_t stream) {
    const std::size_t count = sums_.count + some_.count;
    joined_.reserve(count), ordered_.reserve(count);
    joined_.count = 0;
    joined_.append(sums_, stream);
    joined_.append(some_, stream);
    const auto n = static_cast<int>(count);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, joined_.keys.data(), ordered_.keys.data(),
                                             joined_.sums.data(), ordered_.sums.data(), n, 0, format_.key_bits, stream);
    });
    sums_.reserve(count);
    reduce(ordered_.keys.data(), ordered_.sums.data(), n, sums_, stream);
  }

  template <class T>
  static T fetched(const T* from, cudaStream_t stream) {
    T to;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&to, from, sizeof(T), cudaMemcpyDeviceToHost, stream));
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

  pair_format format_;
  std::size_t crossing_room_ = 0, pair_room_ = 0;  ///< 0: not known yet
  device_buffer<crossing> crossings_;
  device_buffer<list_place> lists_;
  device_buffer<list_sink::counts> used_;
  device_buffer<std::uint64_t> begin_;  ///< of the pairs of each list
  device_buffer<std::uint64_t> packed_, sorted_;
  sum_list sums_, some_, joined_, ordered_;
  device_buffer<std::uint64_t> number_;
  device_buffer<pair_entry> entries_;
  device_buffer<std::uint8_t> scratch_;
};

}  // namespace voxherd::track
