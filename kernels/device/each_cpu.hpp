#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace voxherd {

/// Calls callable(i) for i in [0, count), in any order, on CPU threads.
template <class Callable>
void each_on_cpu(int threads, std::uint32_t count, const Callable& callable) {
  const auto n = static_cast<std::int64_t>(count);
  const auto chunk = std::clamp<std::int64_t>(n / (32 * threads), 1, 1024);
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
  for (std::int64_t i = 0; i < n; ++i) callable(static_cast<std::uint32_t>(i));
}

/// One item per team, a thread: make() gives each thread its callable, with memory of its own, which is called with
/// items of [0, count), `chunk` at a time, in any order.
template <class Make>
void each_team_on_cpu(int threads, std::size_t count, int chunk, const Make& make) {
  const auto n = static_cast<std::int64_t>(count);
#pragma omp parallel num_threads(threads)
  {
    auto work = make();
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t i = 0; i < n; ++i) work(static_cast<std::size_t>(i));
  }
}

}  // namespace voxherd
