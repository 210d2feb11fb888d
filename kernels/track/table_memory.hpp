#pragma once

#include <vector>

#include "kernels/track/stamped_table.hpp"

namespace voxherd::track {

/// Host memory of one table for up to so many keys.
template <class Entry>
class table_memory {
 public:
  explicit table_memory(std::uint32_t keys) : few_(Entry::few), many_(table_entries(keys)) {}

  /// An empty table; only one at a time.
  stamped_table<Entry> table() {
    few_.assign(few_.size(), {});
    many_.assign(many_.size(), {});
    return {few_.data(), Entry::few, many_.data(), static_cast<std::uint32_t>(many_.size()), 0};
  }

 private:
  std::vector<Entry> few_, many_;
};

}  // namespace voxherd::track
