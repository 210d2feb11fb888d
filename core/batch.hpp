#pragma once

#include <cstdint>

namespace voxherd {

/// A run of consecutive items. Numbered only from the input, never from the number of ranks.
struct batch {
  std::uint64_t number = 0;
  std::uint64_t first_item = 0;
  std::uint64_t item_count = 0;
};

}  // namespace voxherd
