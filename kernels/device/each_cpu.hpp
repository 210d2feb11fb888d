#pragma once

#include <omp.h>

#include <algorithm>
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

}  // namespace voxherd
