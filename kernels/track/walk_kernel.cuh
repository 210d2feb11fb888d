#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/device/cuda_check.cuh"
#include "kernels/track/lane.hpp"
#include "kernels/track/met_surfaces.hpp"
#include "kernels/track/pairs.cuh"
#include "kernels/track/stamped_table.hpp"

namespace voxherd::track {

/// The tables of all threads of a kernel, in device memory.
template <class Entry>
struct thread_tables {
  Entry* few = nullptr;  ///< few entries of all threads, then `many`: the first ones are close to each other
  Entry* many = nullptr;
  std::uint32_t many_entries = 0;
  std::uint32_t* stamps = nullptr;  ///< the last one of each thread
  std::uint32_t* full = nullptr;    ///< set to 1 if a table is too small

  __device__ stamped_table<Entry> table(std::size_t thread) const {
    return {few + thread * Entry::few, Entry::few, many + thread * many_entries, many_entries, stamps[thread], full};
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

// Compresses the rows of a dense table in device memory.

constexpr unsigned block_threads = walk_threads;

/// Entries of each row of a dense table. One warp per row.
static __global__ void __launch_bounds__(block_threads)
    size_kernel(const std::uint32_t* cells, std::size_t rows, std::uint32_t columns, std::uint32_t* sizes) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x) / 32;
  if (row >= rows) return;
  std::uint32_t size = 0;
  for (std::uint32_t first = 0; first < columns; first += 32) {
    const std::uint32_t i = first + threadIdx.x % 32;
    size += __popc(__ballot_sync(~0u, i < columns && cells[row * columns + i] != 0));
  }
  if (threadIdx.x % 32 == 0) sizes[row] = size;
}

/// Writes the entries of row i from place begin[i] on, by column.
static __global__ void __launch_bounds__(block_threads)
    compress_kernel(const std::uint32_t* cells, const std::uint64_t* length, std::size_t rows, std::uint32_t columns,
                    const std::uint64_t* begin, std::uint32_t* column, std::uint32_t* count, std::uint64_t* steps) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x) / 32;
  if (row >= rows) return;
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t next = begin[row];
  for (std::uint32_t first = 0; first < columns; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t value = i < columns ? cells[row * columns + i] : 0;
    const std::uint32_t used = __ballot_sync(~0u, value != 0);
    if (value != 0) {
      const std::uint64_t at = next + __popc(used & ((1u << lane) - 1));
      column[at] = i;
      count[at] = value;
      steps[at] = length[row * columns + i];
    }
    next += __popc(used);
  }
}

/// Numbers of streamlines. Three quarters of a thread's share are its own; the others come from a counter that all
/// threads share, for which a warp waits as long as for several steps.
class streamline_queue {
 public:
  __device__ streamline_queue(const track_job& job, unsigned long long* taken)
      : first_(job.first), taken_(taken), own_(static_cast<std::uint32_t>((job.end - job.first) * 3 / 4 / threads())) {}

  __device__ std::uint64_t next() {
    const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
    return first_ + (used_ < own_ ? thread * own_ + used_++ : threads() * own_ + atomicAdd(taken_, 1ull));
  }

 private:
  __device__ static std::size_t threads() { return static_cast<std::size_t>(gridDim.x) * block_threads; }

  std::uint64_t first_;
  unsigned long long* taken_;
  std::uint32_t own_, used_ = 0;
};

/// Blocks per multiprocessor. More blocks hide more memory latency, but leave fewer registers per thread; surfaces need
/// the most.
constexpr int walk_blocks(mask_places places) { return places >= mask_places::surfaces ? 4 : 5; }

/// Each thread draws one streamline after another until none is left.
template <mask_places places, bool takes_notes>
static __global__ void __launch_bounds__(block_threads, walk_blocks(places))
    walk_kernel(const __grid_constant__ track_job job, const __grid_constant__ thread_tables<visit_entry> visits,
                const __grid_constant__ thread_tables<cell_entry> cells, visit_note* notes, unsigned long long* taken,
                const __grid_constant__ list_sink pairs) {
#if __CUDACC_VER_MAJOR__ >= 13
  // Registers spill to shared memory, because local memory does not stay in the first-level cache. Kernels that call
  // functions cannot.
  if constexpr (places == mask_places::samples_image) asm volatile(".pragma \"enable_smem_spilling\";");
#endif
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  lane_walker<places, takes_notes> lane(job, visits.table(thread), cells.table(thread), pairs.list(thread),
                                        notes == nullptr ? nullptr : notes + thread * max_notes);
  streamline_queue queue(job, taken);
  while (lane.advance(queue, pairs)) {
  }
  visits.keep(thread, lane.visits());
  cells.keep(thread, lane.cells());
}

using walk_function = void (*)(track_job, thread_tables<visit_entry>, thread_tables<cell_entry>, visit_note*,
                               unsigned long long*, list_sink);

template <bool takes_notes>
walk_function choose_walk_kernel(const field_view& field) {
  if (field.surfaces.cell_begin != nullptr) return walk_kernel<mask_places::surfaces, takes_notes>;
  if (field.space.voxels != nullptr) return walk_kernel<mask_places::seeds_image, takes_notes>;
  return walk_kernel<mask_places::samples_image, takes_notes>;
}

/// The kernel for the masks of a job, without what they do not need.
inline walk_function choose_walk_kernel(const track_job& job) {
  if (job.field.has_special_matrix()) return walk_kernel<mask_places::special_matrices, false>;
  return takes_notes(job) ? choose_walk_kernel<true>(job.field) : choose_walk_kernel<false>(job.field);
}

}  // namespace voxherd::track
