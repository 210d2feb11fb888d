#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/device.hpp"

namespace voxherd {

/// Work on many items, in pieces that are halved until they fit in device memory.
class pieces_that_fit {
 public:
  /// Calls work(first, count) for pieces of [0, items). If it throws device_out_of_memory, calls release() and
  /// continues with pieces of half as many items, also in later calls. Rethrows if a single item does not fit.
  template <class Work, class Release>
  void run(std::uint64_t items, Work work, Release release) {
    for (std::uint64_t done = 0; done < items;) {
      const std::uint64_t piece = std::min(items - done, limit_);
      try {
        work(done, piece);
      } catch (const device_out_of_memory&) {
        if (piece == 1) throw;
        release();
        limit_ = piece / 2;
        continue;
      }
      done += piece;
    }
  }

 private:
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace voxherd
