#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/track/device_tables.cuh"
#include "kernels/track/lane.hpp"
#include "kernels/track/row_kernels.cuh"

namespace voxherd::track {

struct shared_queue {
  unsigned long long* taken;
  std::uint64_t first;
  __device__ std::uint64_t next() const { return first + atomicAdd(taken, 1ull); }
};

/// Adds the pairs of a streamline to an array. Where it is too small, `used` says how large it should be.
struct pair_sink {
  crossing* crossings = nullptr;  ///< lists of all threads; null: no pairs are wanted
  std::uint32_t list_size = 0;
  std::uint32_t rows = 0;  ///< of the first of two masks; 0: there is one
  std::uint64_t* keys = nullptr;
  std::uint64_t* steps = nullptr;
  unsigned long long* used = nullptr;
  unsigned long long room = 0;

  __device__ crossing* list(std::size_t thread) const {
    return crossings == nullptr ? nullptr : crossings + thread * list_size;
  }
  __device__ void operator()(const walker& w) const {
    if (crossings == nullptr) return;
    const std::uint64_t pairs = count_pairs(w.output().crossings, w.crossings(), rows);
    if (pairs == 0) return;
    unsigned long long at = atomicAdd(used, static_cast<unsigned long long>(pairs));
    for_each_pair(w.output().crossings, w.crossings(), rows, [&](std::uint64_t key, std::uint32_t length) {
      if (at < room) keys[at] = key, steps[at] = length;
      ++at;
    });
  }
};

/// Blocks per multiprocessor. More blocks hide more memory latency, but leave fewer registers per thread.
constexpr int walk_blocks = 6;

/// Each thread draws one streamline after another until none is left.
static __global__ void __launch_bounds__(block_threads, walk_blocks)
    walk_kernel(const __grid_constant__ track_job job, const __grid_constant__ thread_tables<visit_entry> visits,
                const __grid_constant__ thread_tables<cell_entry> cells, unsigned long long* taken,
                const __grid_constant__ pair_sink pairs) {
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  lane_walker lane(job, visits.table(thread), cells.table(thread), pairs.list(thread));
  shared_queue queue{taken, job.first};
  while (lane.advance(queue, pairs)) {
  }
  visits.keep(thread, lane.visits());
  cells.keep(thread, lane.cells());
}

}  // namespace voxherd::track
